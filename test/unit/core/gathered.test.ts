import { expect, test } from 'vitest';
import { Gathered } from '../../../server/platform/core/gathered.ts';

/** Batches that end when the test says so. */
function controlled({ most = 100, keyOf }: { most?: number; keyOf?: (item: string) => string } = {}) {
  const batches: { items: readonly string[]; end: PromiseWithResolvers<readonly string[]> }[] = [];
  const gathered = new Gathered<string, string>({
    most,
    ...(keyOf ? { keyOf } : {}),
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
