import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Input, OperationId, Result } from '../../../client/browser.ts';
import { withoutGone } from './gone.ts';
import { useFleet } from './use-fleet.ts';

type Data<Id extends OperationId> = Result<Id> extends { data: infer T } ? T : never;

/**
 * One record of the interface. Old data stay in place while it is read again, unless it turns out to be removed.
 * @param key first part of the query's key: events make it stale (`STALE_BY_EVENT` in fleet.ts)
 */
export function useRecord<Id extends OperationId>(key: string, id: Id, input: Input<Id>): UseQueryResult<Data<Id>> {
  const { api } = useFleet();
  return withoutGone(
    useQuery({
      queryKey: [key, id, input],
      queryFn: async ({ signal }) => ((await api.call(id, input, { signal })) as unknown as { data: Data<Id> }).data,
    }),
  );
}
