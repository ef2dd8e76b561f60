import type { InfiniteQueryObserverResult, Query, QueryClient } from '@tanstack/react-query';

/**
 * A list of more pages is not read again by events: each page is a request, every two seconds, and a person has 600 a minute (docs/settings.md).
 * Its table says that it is not the newest.
 */
export const MOST_PAGES_READ_AGAIN = 5;

type Read = Pick<Query, 'queryKey' | 'state'>;

/** Whether more of a list was read than is read again by itself. */
export function isLong({ state }: Pick<Read, 'state'>): boolean {
  const pages = (state.data as { pages?: readonly unknown[] } | undefined)?.pages;
  return (pages?.length ?? 0) > MOST_PAGES_READ_AGAIN;
}

/**
 * Reads what is shown and has become stale again; a long list only becomes stale.
 * @param isInSight false: everything only becomes stale, and is read when the page comes into sight (TanStack Query does)
 */
export async function readAgain(
  queries: Pick<QueryClient, 'invalidateQueries'>,
  isStale: (query: Read) => boolean,
  isInSight: boolean,
): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ predicate: (query) => isStale(query) && !isLong(query), refetchType: isInSight ? 'active' : 'none' }),
    queries.invalidateQueries({ predicate: (query) => isStale(query) && isLong(query), refetchType: 'none' }),
  ]);
}

type Shown = Pick<InfiniteQueryObserverResult, 'hasNextPage' | 'isFetching' | 'isFetchingNextPage' | 'fetchNextPage'>;

/** Reads the next page of a list. Nothing that is being read is given up for it: the same page is waited for, and a reading of the list comes first. */
export async function readNext({ hasNextPage, isFetching, isFetchingNextPage, fetchNextPage }: Shown): Promise<void> {
  if (!hasNextPage || isFetchingNextPage) return;
  const readOrJoin = () => fetchNextPage({ cancelRefetch: false });
  // What is under way answers the first question.
  if (isFetching && (await readOrJoin()).isError) return;
  await readOrJoin();
}
