import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { Gathered } from '../../../server/platform/core/gathered.ts';
import { Stopwatch } from '../../harness/stopwatch.ts';

/** Batches that end when the test says so. */
function controlled({
  most = 100,
  ...options
}: { most?: number; keyOf?: (item: string) => string; apartMs?: number; atOnce?: number } = {}) {
  const batches: { items: readonly string[]; end: PromiseWithResolvers<readonly string[]> }[] = [];
  const gathered = new Gathered<string, string>({
    most,
    ...options,
    run: (items) => {
      const end = Promise.withResolvers<readonly string[]>();
      batches.push({ items, end });
      return end.promise;
    },
  });
  const begun = async (count: number): Promise<void> => {
    while (batches.length < count) await new Promise(setImmediate);
  };
  const end = (index: number): void => batches[index]!.end.resolve(batches[index]!.items.map((item) => `${item}!`));
  return { gathered, batches, begun, end };
}

test('calls of one turn are one batch, and those that come meanwhile the next one', async () => {
  const { gathered, batches, begun, end } = controlled();
  const first = [gathered.call('a'), gathered.call('b')];
  await begun(1);
  const second = [gathered.call('c'), gathered.call('d')];
  await new Promise(setImmediate);
  expect(batches.map(({ items }) => items)).toEqual([['a', 'b']]);
  end(0);
  expect(await Promise.all(first)).toEqual(['a!', 'b!']);
  await begun(2);
  end(1);
  expect(await Promise.all(second)).toEqual(['c!', 'd!']);
});

test('a batch has no more items than it may have', async () => {
  const { gathered, batches, begun, end } = controlled({ most: 2 });
  const calls = ['a', 'b', 'c'].map((item) => gathered.call(item));
  for (const index of [0, 1]) {
    await begun(index + 1);
    end(index);
  }
  expect(await Promise.all(calls)).toEqual(['a!', 'b!', 'c!']);
  expect(batches.map(({ items }) => items)).toEqual([['a', 'b'], ['c']]);
});

test('items with the same key are in different batches, in their order', async () => {
  const { gathered, batches, begun, end } = controlled({ keyOf: (item) => item[0]! });
  const calls = ['a1', 'b1', 'a2', 'a3', 'b2'].map((item) => gathered.call(item));
  for (const index of [0, 1, 2]) {
    await begun(index + 1);
    end(index);
  }
  await Promise.all(calls);
  expect(batches.map(({ items }) => items)).toEqual([['a1', 'b1'], ['a2', 'b2'], ['a3']]);
});

test('a batch that fails fails its own calls, and the next batch runs', async () => {
  const { gathered, batches, begun, end } = controlled();
  const lost = [gathered.call('a'), gathered.call('b')];
  const failures = Promise.allSettled(lost);
  await begun(1);
  const kept = gathered.call('c');
  batches[0]!.end.reject(new Error('away'));
  expect((await failures).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await begun(2);
  end(1);
  expect(await kept).toBe('c!');
});

test('a call by itself waits for nothing, and those that follow are gathered', async () => {
  const APART_MS = 300;
  const { gathered, batches, begun, end } = controlled({ apartMs: APART_MS });
  const calls = [gathered.call('a')];
  const startedAt = performance.now();
  const stopwatch = new Stopwatch();
  await begun(1);
  expect(stopwatch.ms).toBeLessThan(APART_MS);
  end(0);
  await calls[0];
  for (const item of ['b', 'c', 'd']) {
    calls.push(gathered.call(item));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await begun(2);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(APART_MS - 2);
  end(1);
  await Promise.all(calls);
  expect(batches.map(({ items }) => items)).toEqual([['a'], ['b', 'c', 'd']]);
});

test('a batch that is full does not wait for the next one’s time', async () => {
  const { gathered, batches, begun, end } = controlled({ most: 2, apartMs: 60_000 });
  const calls = ['a', 'b', 'c', 'd'].map((item) => gathered.call(item));
  await begun(1);
  end(0);
  await begun(2);
  end(1);
  await Promise.all(calls);
  expect(batches.map(({ items }) => items)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

test.each([
  ['one after the other', false],
  ['all at once', true],
])('calls of one party, %s, wait for nobody', async (_how, areAtOnce) => {
  const { gathered, batches, begun, end } = controlled({ keyOf: (item) => item[0]!, apartMs: 60_000 });
  const items = ['a1', 'a2', 'a3', 'a4'];
  const calls = areAtOnce ? items.map((item) => gathered.call(item)) : [];
  for (const [index, item] of items.entries()) {
    if (!areAtOnce) calls.push(gathered.call(item));
    await begun(index + 1);
    end(index);
    await calls[index];
  }
  expect(batches.map((batch) => batch.items)).toEqual(items.map((item) => [item]));
});

test('a batch begins when everybody of the last one is back, and no batch gets smaller by that', async () => {
  const APART_MS = 300;
  const { gathered, batches, begun, end } = controlled({ keyOf: (item) => item[0]!, apartMs: APART_MS });
  const calls = ['a1', 'b1'].map((item) => gathered.call(item));
  await begun(1);
  const stopwatch = new Stopwatch();
  end(0);
  calls.push(gathered.call('a2'), gathered.call('c2'));
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  expect(batches).toHaveLength(1);
  calls.push(gathered.call('b2'));
  await begun(2);
  expect(stopwatch.ms).toBeLessThan(APART_MS);
  end(1);
  // One of them has no more calls: the others wait for it for the usual time.
  calls.push(gathered.call('a3'), gathered.call('b3'));
  const waitedFrom = performance.now();
  await begun(3);
  expect(performance.now() - waitedFrom).toBeGreaterThan(APART_MS / 2);
  end(2);
  await Promise.all(calls);
  expect(batches.map(({ items }) => items)).toEqual([
    ['a1', 'b1'],
    ['a2', 'c2', 'b2'],
    ['a3', 'b3'],
  ]);
});

test('many that call again at once are gathered with those that come meanwhile', async () => {
  const { gathered, batches, begun, end } = controlled({ keyOf: (item) => item.slice(0, -1), apartMs: 300 });
  const many = Array.from({ length: 9 }, (_, index) => `many ${index} `);
  const calls = many.flatMap((name) => [gathered.call(`${name}1`), gathered.call(`${name}2`)]);
  await begun(1);
  end(0);
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  calls.push(gathered.call('new 1'));
  await begun(2);
  end(1);
  await Promise.all(calls);
  expect(batches.map(({ items }) => items)).toEqual([many.map((name) => `${name}1`), [...many.map((name) => `${name}2`), 'new 1']]);
});

test('after its stop nothing runs: earlier calls have their results, and later ones are refused', async () => {
  const { gathered, batches, begun, end } = controlled();
  const early = gathered.call('a');
  await begun(1);
  const waiting = gathered.call('b');
  let isStopped = false;
  const stopped = gathered.stop().then(() => (isStopped = true));
  await expect(gathered.call('c')).rejects.toMatchObject({ code: 'unavailable' });
  end(0);
  await begun(2);
  expect(isStopped).toBe(false);
  end(1);
  await stopped;
  expect(await Promise.all([early, waiting])).toEqual(['a!', 'b!']);
  expect(batches.map(({ items }) => items)).toEqual([['a'], ['b']]);
});

test('a batch runs as a part of its first call, also when an earlier call of somebody else has begun to gather', async () => {
  const caller = new AsyncLocalStorage<string>();
  const served: (string | undefined)[] = [];
  const first = Promise.withResolvers<void>();
  const gathered = new Gathered<string, string>({
    most: 2,
    run: async (items) => {
      served.push(caller.getStore());
      if (served.length === 1) await first.promise;
      return items;
    },
  });
  const call = (name: string) => caller.run(name, () => gathered.call(name));
  const calls = [call('a')];
  while (served.length === 0) await new Promise(setImmediate);
  calls.push(call('b'), call('c'), gathered.call('d'));
  first.resolve();
  await Promise.all(calls);
  expect(served).toEqual(['a', 'b', undefined]);
});

test('as many batches run at the same time as may, and each takes what came before it', async () => {
  const { gathered, batches, begun, end } = controlled({ atOnce: 2 });
  const calls = [gathered.call('a')];
  await begun(1);
  calls.push(gathered.call('b'), gathered.call('c'));
  await begun(2);
  calls.push(gathered.call('d'));
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  calls.push(gathered.call('e'));
  end(1);
  await begun(3);
  const stopped = gathered.stop();
  end(2);
  expect(await Promise.race([stopped, calls[4]])).toBe('e!');
  end(0);
  await stopped;
  expect(await Promise.all(calls)).toEqual(['a!', 'b!', 'c!', 'd!', 'e!']);
  expect(batches.map(({ items }) => items)).toEqual([['a'], ['b', 'c'], ['d', 'e']]);
});
