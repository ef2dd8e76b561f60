import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SlidingWindow } from '../../../server/platform/core/sliding-window.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const WINDOW_MS = 60_000;

/** Replays requests that come so long after one another. @returns when each was made, and whether it was let through */
function replay(max: number, gaps: readonly number[]): { at: number; ok: boolean }[] {
  const clock = new ManualClock();
  const window = new SlidingWindow(WINDOW_MS, () => clock.monotonic());
  return gaps.map((gap) => {
    clock.advance(gap);
    return { at: clock.monotonic(), ok: window.take('key', max).current <= max };
  });
}

const admittedSince = (requests: readonly { at: number; ok: boolean }[], from: number, to: number) =>
  requests.filter(({ at, ok }) => ok && at > from && at <= to).length;

test('never admits more than the limit in any 60 seconds, and refuses none below it', () => {
  const gaps = fc.array(fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 61_000 })), { maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), gaps, (max, waits) => {
      const requests = replay(max, waits);
      for (const [index, { at, ok }] of requests.entries()) {
        const before = admittedSince(requests.slice(0, index), at - WINDOW_MS, at);
        expect(ok).toBe(before < max);
      }
    }),
  );
});

test('a high limit keeps few timestamps and still admits no more', () => {
  const max = 1000;
  const requests = replay(max, Array<number>(5000).fill(20));
  for (const { at } of requests) expect(admittedSince(requests, at - WINDOW_MS, at)).toBeLessThanOrEqual(max);
  // It gives back at most 1/600 of the window late.
  expect(admittedSince(requests, 0, 100_000)).toBeGreaterThanOrEqual(1000 + 0.9 * 1000);
});

test('the wait it returns is exact to the millisecond', () => {
  const clock = new ManualClock();
  const window = new SlidingWindow(WINDOW_MS, () => clock.monotonic());
  expect(window.take('key', 2)).toEqual({ current: 1, ttl: 60_000 });
  clock.advance(1500);
  expect(window.take('key', 2)).toEqual({ current: 2, ttl: 58_500 });
  const { current, ttl } = window.take('key', 2);
  expect({ current, ttl }).toEqual({ current: 3, ttl: 58_500 });
  clock.advance(ttl - 1);
  expect(window.take('key', 2).current).toBe(3);
  clock.advance(1);
  expect(window.take('key', 2)).toEqual({ current: 2, ttl: 1500 });
  expect(window.take('other', 2).current).toBe(1);
});

test('a key in use is kept when unused ones expire', () => {
  const clock = new ManualClock();
  const window = new SlidingWindow(WINDOW_MS, () => clock.monotonic());
  for (let second = 0; second < 50; second += 1) {
    expect(window.take('busy', 60).current).toBe(second + 1);
    clock.advance(1000);
  }
  clock.advance(9000);
  for (let n = 0; n < 10; n += 1) expect(window.take('busy', 60).current).toBeLessThanOrEqual(60);
  expect(window.take('busy', 60).current).toBe(61);
  clock.advance(1000);
  expect(window.take('busy', 60).current).toBe(60);
});

test('reports whether it is full without counting', () => {
  const clock = new ManualClock();
  const window = new SlidingWindow(WINDOW_MS, () => clock.monotonic());
  for (let asked = 0; asked < 5; asked += 1) expect(window.isFull('key', 1)).toBe(false);
  window.take('key', 1);
  expect([window.isFull('key', 1), window.isFull('key', 2), window.isFull('other', 1)]).toEqual([true, false, false]);
  clock.advance(WINDOW_MS);
  expect(window.isFull('key', 1)).toBe(false);
});
