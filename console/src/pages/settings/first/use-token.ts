import { useQuery } from '@tanstack/react-query';
import type { EnrolToken } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { followedToken } from './followed-token.ts';

/** The token by which the new agent comes, as it is now. @param ownId of the one that was made on the page */
export function useToken(ownId: string | undefined): EnrolToken | undefined {
  const { api } = useFleet();
  const { data } = useQuery({
    queryKey: ['enrol-tokens', ownId],
    queryFn: async () => followedToken((await api.call('listEnrolTokens', { query: { limit: 100 } })).data, ownId!) ?? null,
    enabled: ownId !== undefined,
  });
  return data ?? undefined;
}
