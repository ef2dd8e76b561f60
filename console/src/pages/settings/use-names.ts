import { useQuery } from '@tanstack/react-query';
import { useFleet } from '../../data/use-fleet.ts';

export interface Actor {
  id: string;
  /** A member's address, or `key NAME`. */
  name: string;
}

const NOBODY: readonly Actor[] = [];

/** Who may act in the team: members, then keys, also ended ones. */
export function useActors(): readonly Actor[] {
  const { api } = useFleet();
  const { data } = useQuery({
    queryKey: ['api-keys', 'actors'],
    queryFn: async (): Promise<readonly Actor[]> => {
      const [members, keys] = await Promise.all([api.all('listMembers', {}), api.all('listApiKeys', {})]);
      return [...members.map(({ id, email }) => ({ id, name: email })), ...keys.map(({ id, name }) => ({ id, name: `key ${name}` }))];
    },
  });
  return data ?? NOBODY;
}

/** Names for ids of those who act; somebody who left the team stays an id. */
export function useNames(): (id: string | null) => string {
  const actors = useActors();
  return (id) => (id === null ? "the server's operator" : (actors.find((actor) => actor.id === id)?.name ?? id));
}
