import { beforeEach, expect, test } from 'vitest';
import { BulkThrottle } from '../../../runtime/bulk-throttle.ts';

let now: number;
let timers: { at: number; callback: () => void }[];
let immediates: (() => void)[];
let pace: BulkThrottle;
let reads: string[];

beforeEach(() => {
  now = 1000;
  timers = [];
  immediates = [];
  reads = [];
  pace = new BulkThrottle({
    now: () => now,
    setTimeout: (callback, ms) => void timers.push({ at: now + ms, callback }),
    setImmediate: (callback) => void immediates.push(callback),
  });
});

function passMs(ms: number): void {
  for (const end = now + ms; now < end;) {
    now += 1;
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter(({ at }) => at > now);
    for (const { callback } of due) callback();
  }
}

const ask = (count: number, from = 0): void => {
  for (let i = from; i < from + count; i += 1) pace.whenNext(() => void reads.push(`socket ${i}`));
};

test('a busy socket in a quiet process reads again in the next turn of the event loop', () => {
  ask(20);
  expect(immediates).toHaveLength(20);
  expect(timers).toEqual([]);
});

test('beside a command eight sockets read in each millisecond, in the order of their requests', () => {
  pace.commandStarted();
  ask(20);
  expect(immediates).toEqual([]);
  const perMs = [1, 2, 3, 4].map(() => {
    const before = reads.length;
    passMs(1);
    return reads.length - before;
  });
  expect(perMs).toEqual([8, 8, 4, 0]);
  expect(reads).toEqual(Array.from({ length: 20 }, (_, i) => `socket ${i}`));
});

test('a socket that asks again from its own reading waits for the next millisecond', () => {
  pace.commandStarted();
  const again = (): void => {
    reads.push('again');
    pace.whenNext(again);
  };
  pace.whenNext(again);
  passMs(10);
  expect(reads).toHaveLength(10);
});

test.each([
  { what: 'a command', begin: () => pace.commandStarted(), ms: 50 },
  { what: 'a short message', begin: () => pace.shortMessagePassed(), ms: 3 },
])('bulk yields to $what for $ms ms, and no longer', ({ begin, ms }) => {
  begin();
  passMs(ms - 1);
  ask(1);
  expect(immediates).toHaveLength(0);
  passMs(1);
  ask(1, 1);
  expect(immediates).toHaveLength(1);
});

test('a short message does not shorten the time of a command', () => {
  pace.commandStarted();
  pace.shortMessagePassed();
  passMs(40);
  ask(1);
  expect(immediates).toHaveLength(0);
});

test('sockets that still wait at the end of the time read at once', () => {
  pace.shortMessagePassed();
  passMs(2);
  ask(100);
  passMs(1);
  expect(reads).toHaveLength(100);
});
