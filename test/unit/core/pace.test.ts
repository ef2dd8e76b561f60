import { expect, test } from 'vitest';
import { Pace } from '../../../server/platform/core/pace.ts';

const APART_MS = 200;
/** Timers of Node may fire a millisecond early. */
const EARLY_MS = 2;

async function timeOf(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

test('the first round begins at once, and the next one after its time', async () => {
  const pace = new Pace(APART_MS);
  const begun = performance.now();
  expect(await timeOf(() => pace.next())).toBeLessThan(APART_MS / 2);
  await pace.next();
  expect(performance.now() - begun).toBeGreaterThanOrEqual(APART_MS - EARLY_MS);
});

test('a round that comes late enough begins at once', async () => {
  const pace = new Pace(50);
  await pace.next();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(await timeOf(() => pace.next())).toBeLessThan(40);
});

test('a round that waits begins when somebody hurries, and the one after it keeps its time', async () => {
  const pace = new Pace(APART_MS);
  await pace.next();
  const waiting = timeOf(() => pace.next());
  const hurriedAt = performance.now();
  pace.hurry();
  expect(await waiting).toBeLessThan(APART_MS / 2);
  await pace.next();
  expect(performance.now() - hurriedAt).toBeGreaterThanOrEqual(APART_MS - EARLY_MS);
});

test('who hurries before the round is there is heard', async () => {
  const pace = new Pace(APART_MS);
  await pace.next();
  pace.hurry();
  expect(await timeOf(() => pace.next())).toBeLessThan(APART_MS / 2);
});
