import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { MOST_PAGES_READ_AGAIN, readAgain, readNext } from '../../../console/src/data/long-lists.ts';

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

it('reads a next page once, however often it is asked for, and after a reading that is under way', async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: 30_000, retry: false } } });
  const asked: number[] = [];
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const list = new InfiniteQueryObserver(queries, {
    queryKey: ['jobs'],
    queryFn: async ({ pageParam }) => {
      asked.push(pageParam);
      await gate.promise;
      return { data: [pageParam], next: pageParam + 1 };
    },
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
  });
  const leave = list.subscribe(() => undefined);
  await list.refetch();
  gate = Promise.withResolvers();
  // What was rendered before the first one knows nothing of it.
  const rendered = list.getCurrentResult();
  const readings = Array.from({ length: 10 }, () => readNext(rendered));
  gate.resolve();
  await Promise.all(readings);
  expect(asked).toEqual([0, 1]);

  gate = Promise.withResolvers();
  const again = list.refetch();
  const during = [list.getCurrentResult(), list.getCurrentResult()].map((result) => readNext(result));
  gate.resolve();
  await Promise.all([again, ...during]);
  expect(asked).toEqual([0, 1, 0, 1, 2]);
  expect(list.getCurrentResult().data!.pages).toHaveLength(3);
  leave();
  queries.clear();
});
