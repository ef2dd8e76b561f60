import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pace } from '../../../server/platform/core/pace.ts';

const APART_MS = 200;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Begins a round, and tells whether it has begun. */
function round(pace: Pace): { hasBegun: () => Promise<boolean> } {
  let hasBegun = false;
  void pace.next().then(() => (hasBegun = true));
  return {
    hasBegun: async () => {
      await vi.advanceTimersByTimeAsync(0);
      return hasBegun;
    },
  };
}

/** Resolves when the round begins, which is after this time and no sooner. */
async function beginsAfter(pace: Pace, ms: number): Promise<void> {
  const { hasBegun } = round(pace);
  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(await hasBegun()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await hasBegun()).toBe(true);
}

async function beginsAtOnce(pace: Pace): Promise<void> {
  expect(await round(pace).hasBegun()).toBe(true);
}

test('the first round begins at once, and the next one after its time', async () => {
  const pace = new Pace(APART_MS);
  await beginsAtOnce(pace);
  await beginsAfter(pace, APART_MS);
});

test('a round that comes late enough begins at once', async () => {
  const pace = new Pace(APART_MS);
  await beginsAtOnce(pace);
  await vi.advanceTimersByTimeAsync(APART_MS);
  await beginsAtOnce(pace);
});

test('a round that waits begins when somebody hurries, and the one after it keeps its time', async () => {
  const pace = new Pace(APART_MS);
  await beginsAtOnce(pace);
  const waiting = round(pace);
  await vi.advanceTimersByTimeAsync(APART_MS / 2);
  expect(await waiting.hasBegun()).toBe(false);
  pace.hurry();
  expect(await waiting.hasBegun()).toBe(true);
  await beginsAfter(pace, APART_MS);
});

test('who hurries before the round is there is heard', async () => {
  const pace = new Pace(APART_MS);
  await beginsAtOnce(pace);
  pace.hurry();
  await beginsAtOnce(pace);
});
