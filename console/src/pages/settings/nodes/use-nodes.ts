import { useQuery } from '@tanstack/react-query';
import { ProblemError } from '../../../../../client/browser.ts';
import type { ControlPlane } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import type { RecordList } from '../../../data/use-list.ts';

/** First part of the key of the query. */
export const NODES = 'nodes';
/** There are no events of control planes: their beats change every 2 s, milliseconds. */
const READ_MS = 3000;

export interface Nodes extends RecordList<ControlPlane> {
  /** When they were read the last time, milliseconds since 1970. */
  readAt: number;
}

/** The control planes, read again every few seconds while the page is in sight. */
export function useNodes(): Nodes {
  const { api, me, who } = useFleet();
  const { data, error, isPending, dataUpdatedAt } = useQuery({
    queryKey: [NODES],
    queryFn: async ({ signal }) => {
      try {
        return (await api.call('listNodes', {}, { signal })).data;
      } catch (failed) {
        // No event says that the right was taken away.
        if (failed instanceof ProblemError && failed.status === 403) void who.readAgain();
        throw failed;
      }
    },
    enabled: me.installation_admin,
    refetchInterval: READ_MS,
  });
  return {
    records: data ?? [],
    total: undefined,
    isTotalExact: true,
    isFirst: isPending,
    error,
    hasMore: false,
    readMore: () => undefined,
    readAt: dataUpdatedAt,
  };
}
