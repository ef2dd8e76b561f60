import { expect, test } from 'vitest';
import { Backoff } from '../../../agent/link/backoff.ts';

const pauses = (backoff: Backoff, count: number) => Array.from({ length: count }, () => backoff.next({ readyMs: 0 }));

test('the ceiling doubles from one second to a minute, and the pause is anything below it', () => {
  expect(pauses(new Backoff(() => 1), 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  expect(pauses(new Backoff(() => 0.25), 4)).toEqual([250, 500, 1000, 2000]);
  expect(pauses(new Backoff(() => 0), 3)).toEqual([0, 0, 0]);
});

test('only a tunnel that was ready for 30 s resets it', () => {
  const backoff = new Backoff(() => 1);
  pauses(backoff, 4);
  expect(backoff.next({ readyMs: 29_999 })).toBe(16_000);
  expect(backoff.next({ readyMs: 30_000 })).toBe(1000);
});

test("the server's requested pause is added", () => {
  const backoff = new Backoff(() => 0.5);
  expect(backoff.next({ readyMs: 60_000, reconnectAfterMs: 7000 })).toBe(7500);
});

test('a year of failures does not overflow', () => {
  const backoff = new Backoff(() => 0.5);
  expect(pauses(backoff, 5000).at(-1)).toBe(30_000);
});

test('the first pause after a server that was lost without a word is spread as it asked', () => {
  const backoff = new Backoff(() => 0.5);
  expect(backoff.next({ readyMs: 60_000, spreadMs: 8000 })).toBe(4000);
  // It was not ready again: the usual way on.
  expect(backoff.next({ readyMs: 0 })).toBe(1000);
  // One that says goodbye has spread its agents itself.
  expect(backoff.next({ readyMs: 60_000, spreadMs: 8000, reconnectAfterMs: 1 })).toBe(501);
});

test('a goaway without a pause is obeyed at once, but not again and again', () => {
  const backoff = new Backoff(() => 0.5);
  expect(backoff.next({ readyMs: 1000, reconnectAfterMs: 0 })).toBe(0);
  expect(backoff.next({ readyMs: 1000, reconnectAfterMs: 0 })).toBe(0);
  expect(backoff.next({ readyMs: 999, reconnectAfterMs: 0 })).toBe(500);
  expect(backoff.next({ readyMs: 0 })).toBe(1000);
});
