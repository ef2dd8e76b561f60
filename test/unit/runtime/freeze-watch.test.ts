import { beforeEach, expect, test } from 'vitest';
import { FreezeWatch } from '../../../runtime/freeze-watch.ts';

let now: number;
let timers: { at: number; callback: () => void }[];
let watch: FreezeWatch;

beforeEach(() => {
  now = 1000;
  timers = [];
  watch = new FreezeWatch({
    now: () => now,
    setTimeout: (callback, ms) => {
      const timer = { at: now + ms, callback };
      timers.push(timer);
      return { cancel: () => (timers = timers.filter((other) => other !== timer)) };
    },
  });
});

/** The event loop turns: its timers fire. */
function turn(): void {
  const due = timers.filter(({ at }) => at <= now);
  timers = timers.filter(({ at }) => at > now);
  for (const { callback } of due) callback();
}

function runMs(ms: number): void {
  for (const end = now + ms; now < end;) {
    now += 100;
    turn();
  }
}

test('a process that turns has not frozen, however long it runs', () => {
  watch.watch();
  runMs(60_000);
  expect(watch.hasFrozen).toBe(false);
});

test.each([
  [6000, false],
  [8000, true],
])('after a pause of %i ms whoever asks before any timer fires hears %s', (ms, hasFrozen) => {
  watch.watch();
  runMs(5000);
  now += ms;
  expect(watch.hasFrozen).toBe(hasFrozen);
});

test('the pause is remembered when a timer fires first, until it is known that the process still counts', () => {
  watch.watch();
  runMs(5000);
  now += 20_000;
  turn();
  runMs(3000);
  expect(watch.hasFrozen).toBe(true);
  watch.stillCounts(now);
  expect(watch.hasFrozen).toBe(false);
  runMs(60_000);
  expect(watch.hasFrozen).toBe(false);
});

test('the answer to a question from before the pause says nothing, also when it is read first', () => {
  watch.watch();
  const askedAt = now;
  now += 20_000;
  watch.stillCounts(askedAt);
  expect(watch.hasFrozen).toBe(true);
  watch.stillCounts(now);
  expect(watch.hasFrozen).toBe(false);
});

test('nobody is told of a pause while nobody watches, and the end of one watch leaves the others', () => {
  const [endOne, endOther] = [watch.watch(), watch.watch()];
  endOne();
  now += 20_000;
  expect(watch.hasFrozen).toBe(true);
  endOther();
  expect(watch.hasFrozen).toBe(false);
  expect(timers).toEqual([]);
  watch.watch();
  expect(watch.hasFrozen).toBe(false);
});
