import { useInfiniteQuery } from '@tanstack/react-query';
import type { Input, ListItem, ListOperation } from '../../../client/browser.ts';
import { keepPrevious, ownerOfList } from './keep-previous.ts';
import { MOST_PAGES_READ_AGAIN, readNext } from './long-lists.ts';
import { useFleet } from './use-fleet.ts';

export interface RecordList<T> {
  /** What has been read so far, in the server's order. */
  records: readonly T[];
  /** Records that match on the server, when the query asks for `total`. */
  total: number | undefined;
  /** False: there are more than `total`; the server stops counting there. */
  isTotalExact: boolean;
  /** True until the first page has arrived. Later readings and other filters keep the old records; those of another router do not. */
  isFirst: boolean;
  /** True: something has changed, and the list is too long to be read again by itself. */
  isOld?: boolean;
  /** Reads everything that was read again. */
  readAgain?: () => void;
  error: Error | null;
  hasMore: boolean;
  /** Reads the next page; does nothing while one is on its way. */
  readMore: () => void;
}

interface Body<T> {
  data: T[];
  total?: number;
  total_is_exact?: boolean;
}

/**
 * One of the interface's paged lists, read page by page as the reader comes near its end.
 * @param key first part of the query's key: events make it stale (`STALE_BY_EVENT` in fleet.ts)
 */
export function useList<Id extends ListOperation>(key: string, id: Id, input: Input<Id>): RecordList<ListItem<Id>> {
  const { api } = useFleet();
  const queryKey = [key, id, input];
  const query = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const { result, next } = await api.read(id, withCursor(input, pageParam), { signal });
      return { ...(result as unknown as Body<ListItem<Id>>), next };
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPrevious(queryKey, ownerOfList),
  });
  const pages = query.data?.pages ?? [];
  return {
    records: pages.flatMap(({ data }) => data),
    total: pages[0]?.total,
    isTotalExact: pages[0]?.total_is_exact ?? true,
    isFirst: query.isPending,
    isOld: query.isStale && pages.length > MOST_PAGES_READ_AGAIN,
    readAgain: () => void query.refetch(),
    error: query.error,
    hasMore: query.hasNextPage,
    readMore: () => void readNext(query),
  };
}

function withCursor<Id extends ListOperation>(input: Input<Id>, cursor: string): Input<Id> {
  if (cursor === '') return input;
  const { query, ...rest }: { query?: Record<string, unknown> } = input;
  return { ...rest, query: { ...query, cursor } };
}
