import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { MOST_PAGES_READ_AGAIN, readAgain } from '../../../console/src/data/long-lists.ts';

it.each([
  [MOST_PAGES_READ_AGAIN, MOST_PAGES_READ_AGAIN],
  [MOST_PAGES_READ_AGAIN + 1, 0],
])('a list of %i pages is read again with %i requests, and counts as old until then', async (pages, requests) => {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: 30_000, retry: false } } });
  let asked = 0;
  const list = new InfiniteQueryObserver(queries, {
    queryKey: ['jobs'],
    queryFn: async ({ pageParam }) => {
      asked += 1;
      return { data: [pageParam], next: pageParam + 1 };
    },
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
  });
  const leave = list.subscribe(() => undefined);
  await list.refetch();
  while (list.getCurrentResult().data!.pages.length < pages) await list.fetchNextPage();
  asked = 0;
  await readAgain(queries, ({ queryKey }) => queryKey[0] === 'jobs', true);
  expect(asked).toBe(requests);
  expect(list.getCurrentResult().isStale).toBe(requests === 0);
  leave();
  queries.clear();
});
