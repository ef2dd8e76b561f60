import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import type { NotificationGroup } from '../../../../../client/browser.ts';
import { withoutGone } from '../../../data/gone.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { GROUPS } from '../directory.ts';

/** One group. Answers about groups have no envelope (docs/interface.md). */
export function useGroup(id: string): UseQueryResult<NotificationGroup> {
  const { api } = useFleet();
  return withoutGone(
    useQuery({ queryKey: [GROUPS, 'getGroup', id], queryFn: ({ signal }) => api.call('getGroup', { path: { group_id: id } }, { signal }) }),
  );
}
