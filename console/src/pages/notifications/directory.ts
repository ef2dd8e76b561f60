import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ListItem, ListOperation } from '../../../../client/browser.ts';
import { CHANNELS, GROUPS } from '../../data/fleet.ts';
import { useFleet } from '../../data/use-fleet.ts';
import type { RecordList } from '../../data/use-list.ts';
import type { Names } from './sentence.ts';

/** First parts of the keys of queries. */
export { CHANNELS, GROUPS };

/** All records of a list that the interface keeps short: groups, topics and schedules of a team. */
export function useAll<Id extends ListOperation>(key: string, id: Id): UseQueryResult<ListItem<Id>[]> {
  const { api } = useFleet();
  return useQuery({ queryKey: [key, 'all', id], queryFn: () => api.all(id, {}) });
}

/** The same, for a table. */
export function listOf<T>({ data, error, isPending }: UseQueryResult<T[]>): RecordList<T> {
  const records = data ?? [];
  return { records, total: records.length, isTotalExact: true, isFirst: isPending, error, hasMore: false, readMore: () => undefined };
}

/** Everything that groups name. Undefined until all of it has been read: a sentence with holes would be believed. */
export function useNames(): { names: Names | undefined; error: Error | null } {
  const groups = useAll(GROUPS, 'listGroups');
  const members = useAll('members', 'listMembers');
  const targets = useAll(CHANNELS, 'listNotificationTargets');
  const topics = useAll('topics', 'listTopics');
  const sites = useAll('sites', 'listSites');
  const schedules = useAll('schedules', 'listSchedules');
  const all = [groups, members, targets, topics, sites, schedules];
  const error = all.find((one) => one.error !== null)?.error ?? null;
  const names = useMemo(() => {
    if (!groups.data || !members.data || !targets.data || !topics.data || !sites.data || !schedules.data) return undefined;
    return {
      groups: byId(groups.data),
      members: byId(members.data),
      targets: byId(targets.data),
      topics: byId(topics.data),
      sites: byId(sites.data),
      schedules: byId(schedules.data),
    };
  }, [groups.data, members.data, targets.data, topics.data, sites.data, schedules.data]);
  return { names, error };
}

function byId<T extends { id: string }>(records: readonly T[]): ReadonlyMap<string, T> {
  return new Map(records.map((record) => [record.id, record]));
}
