import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Admission } from '../../../server/http/admission.ts';

const limits = { atOnce: 2, waiting: 6, waitingOfCaller: 4, waitMs: 800, workMs: 1000 };

let admission: Admission;
let order: string[];

beforeEach(() => {
  vi.useFakeTimers();
  admission = new Admission(limits);
  order = [];
});
afterEach(() => {
  vi.useRealTimers();
});

/** Waits, and says so when it is admitted or refused. */
function ask(caller: string, name = caller): void {
  const wait = admission.enter(caller);
  if (wait === undefined) order.push(name);
  else {
    wait.then(
      () => order.push(name),
      (error: { code: string }) => order.push(`${name} ${error.code}`),
    );
  }
}

const settle = () => vi.advanceTimersByTimeAsync(0);

test('admits at once while the process is not busy, without a promise', () => {
  expect(admission.enter('a')).toBeUndefined();
  expect(admission.enter('a')).toBeUndefined();
  expect(admission.working).toBe(2);
});

test('callers take turns: one that sends many delays itself', async () => {
  const leaves = ['x', 'x'].map(() => (admission.enter('x'), admission.begin()));
  for (const name of ['a1', 'a2', 'a3', 'a4']) ask('a', name);
  ask('b', 'b1');
  for (let admitted = 0; admitted < 5; admitted += 1) {
    leaves.shift()!();
    await settle();
    leaves.push(admission.begin());
  }
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3', 'a4']);
});

test('refuses at once what is over the bound of a caller, or of all', () => {
  for (let index = 0; index < 2; index += 1) ask('x');
  for (let index = 0; index < 4; index += 1) ask('a');
  expect(() => admission.enter('a')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  ask('b');
  ask('c');
  expect(() => admission.enter('d')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect([admission.waiting, admission.refused]).toEqual([6, 2]);
});

test('refuses what has not begun within its time, and nobody is left behind', async () => {
  for (let index = 0; index < 2; index += 1) ask('x');
  ask('a');
  await vi.advanceTimersByTimeAsync(limits.waitMs - 1);
  ask('b');
  await vi.advanceTimersByTimeAsync(1);
  expect(order).toEqual(['x', 'x', 'a unavailable']);
  await vi.advanceTimersByTimeAsync(limits.waitMs);
  expect(order.at(-1)).toBe('b unavailable');
  expect(admission.waiting).toBe(0);
});

test('what takes long gives its place to others, once', async () => {
  const leave = (admission.enter('x'), admission.begin());
  expect(admission.enter('x')).toBeUndefined();
  admission.begin();
  await vi.advanceTimersByTimeAsync(limits.workMs);
  expect(admission.working).toBe(0);
  leave();
  expect(admission.working).toBe(0);
});
