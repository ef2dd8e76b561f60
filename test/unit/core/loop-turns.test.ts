import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LoopTurns, nextTurn } from '../../../server/platform/core/loop-turns.ts';

test('one caller goes on in each turn of the event loop; teams take turns, and in each team its members', async () => {
  const turns = new LoopTurns();
  const order: string[] = [];
  for (const [party, member] of [
    ['greedy', 'a'],
    ['greedy', 'a'],
    ['greedy', 'a'],
    ['greedy', 'b'],
    ['quiet', 'c'],
  ] as const)
    void turns.take({ party, member }).then(() => order.push(`${party} ${member}`));
  expect(turns.waiting).toBe(5);
  const seen: number[] = [];
  while (turns.waiting > 0) {
    const before = order.length;
    await turnOfTheLoop();
    seen.push(order.length - before);
  }
  await turnOfTheLoop();
  expect(Math.max(...seen)).toBe(1);
  expect(order).toEqual(['greedy a', 'quiet c', 'greedy b', 'greedy a', 'greedy a']);
});

test('work within a turn waits for the next one in its own name', async () => {
  const turns = new LoopTurns();
  const order: string[] = [];
  const work = async (party: string): Promise<void> => {
    for (let piece = 0; piece < 3; piece += 1) {
      order.push(`${party} ${piece}`);
      await nextTurn();
    }
  };
  await Promise.all(['one', 'other'].map((party) => turns.within({ party }, () => work(party))));
  expect(order).toEqual(['one 0', 'other 0', 'one 1', 'other 1', 'one 2', 'other 2']);
});

test('outside of a request it only lets sockets be read', async () => {
  let isOver = false;
  const waits = nextTurn().then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  await waits;
});

test('with small pieces of work, a few callers go on in each turn', async () => {
  const turns = new LoopTurns({ least: 2, perMs: 0, most: 2 });
  const order: string[] = [];
  for (const party of ['a', 'a', 'a', 'b', 'a']) void turns.take({ party }).then(() => order.push(party));
  await turnOfTheLoop();
  expect(order).toEqual(['a', 'b']);
  await turnOfTheLoop();
  expect(order).toEqual(['a', 'b', 'a', 'a']);
  await turnOfTheLoop();
  expect(order).toEqual(['a', 'b', 'a', 'a', 'a']);
  expect(turns.waiting).toBe(0);
});

test('a long turn lets more callers go on, by its milliseconds', async () => {
  const turns = new LoopTurns({ least: 1, perMs: 2, most: 12 });
  let count = 0;
  for (let caller = 0; caller < 20; caller += 1) void turns.take({ party: 'a' }).then(() => (count += 1));
  const begun = performance.now();
  while (performance.now() - begun < 5) continue;
  await turnOfTheLoop();
  expect(count).toBeGreaterThanOrEqual(10);
  expect(count).toBeLessThanOrEqual(12);
});
