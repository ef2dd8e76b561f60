import { useQuery } from '@tanstack/react-query';
import { useFleet } from '../../data/use-fleet.ts';

/** Names of those who act in the team: members by address, keys by name. What is not known any more stays an id. */
export function useNames(): (id: string | null) => string {
  const { api } = useFleet();
  const { data } = useQuery({
    queryKey: ['api-keys', 'names'],
    queryFn: async () => {
      const [members, keys] = await Promise.all([api.all('listMembers', {}), api.all('listApiKeys', {})]);
      return new Map([
        ...members.map(({ id, email }) => [id, email] as const),
        ...keys.map(({ id, name }) => [id, `key ${name}`] as const),
      ]);
    },
  });
  return (id) => (id === null ? "the server's operator" : (data?.get(id) ?? id));
}
