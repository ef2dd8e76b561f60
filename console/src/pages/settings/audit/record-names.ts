import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import { useActors } from '../../../data/use-names.ts';

const NONE: readonly { id: string; name: string }[] = [];

/** Names of records by id, for entries that say none themselves: of those that are short lists and still there. */
export function useRecordNames(): ReadonlyMap<string, string> {
  const { api } = useFleet();
  const actors = useActors();
  const { data = NONE } = useQuery({
    queryKey: ['record-names'],
    queryFn: async () => {
      const lists = await Promise.all([
        api.all('listSites', {}),
        api.all('listGroups', {}),
        api.all('listTopics', {}),
        api.all('listSchedules', {}),
        api.all('listNotificationTargets', {}),
      ]);
      return lists.flat().map(({ id, name }) => ({ id, name }));
    },
  });
  return useMemo(() => new Map([...actors, ...data].map(({ id, name }) => [id, name])), [actors, data]);
}
