import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ADMISSION, Admission } from '../../../server/platform/http/admission.ts';

const limits = {
  atOnce: 2,
  rush: { requests: 1, oneByOne: 0, connections: 2 },
  waiting: { total: 12, perParty: 9, perMember: 4 },
  waitMs: 800,
  checkMs: 150,
  workMs: 900,
};

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

const at = (network: string, credential = 'key') => ({ party: network, member: credential });

/** Waits, and says so when it is admitted or refused. */
function ask(network: string, name = network, credential = 'key'): void {
  const wait = admission.enter(at(network, credential));
  if (wait === 'admitted') order.push(name);
  else if (wait === 'refused') order.push(`${name} refused`);
  else void wait.then((isIn) => order.push(isIn ? name : `${name} refused`));
}

const settle = () => vi.advanceTimersByTimeAsync(0);

test('admits at once while the process is not busy, without a promise', () => {
  expect(admission.enter(at('a'))).toBe('admitted');
  expect(admission.enter(at('a'))).toBe('admitted');
  expect(admission.working).toBe(2);
});

test('callers take turns: one that sends many delays itself', async () => {
  const leaves = ['x', 'x'].map(() => (admission.enter(at('x')), admission.begin()));
  for (const name of ['a1', 'a2', 'a3', 'a4']) ask('a', name);
  ask('b', 'b1');
  for (let admitted = 0; admitted < 5; admitted += 1) {
    leaves.shift()!();
    await settle();
    leaves.push(admission.begin());
  }
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3', 'a4']);
});

test('credentials of one network take turns too', async () => {
  const leaves = ['x', 'x'].map(() => (admission.enter(at('x')), admission.begin()));
  for (const name of ['a1', 'a2', 'a3']) ask('n', name, 'a');
  ask('n', 'b1', 'b');
  for (let admitted = 0; admitted < 4; admitted += 1) {
    leaves.shift()!();
    await settle();
    leaves.push(admission.begin());
  }
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
});

test('a client that invents a credential for every request delays no other network, and is refused first', async () => {
  const leaves = ['x', 'x'].map(() => (admission.enter(at('x')), admission.begin()));
  for (let index = 0; index < 6; index += 1) ask('stranger', `made up ${index}`, `made up ${index}`);
  expect(admission.enter(at('stranger', 'one more'))).toBe('refused');
  for (const name of ['a', 'b', 'c']) ask(name);
  for (let admitted = 0; admitted < 4; admitted += 1) {
    leaves.shift()!();
    await settle();
    leaves.push(admission.begin());
  }
  expect(order).toEqual(['made up 0', 'a', 'b', 'c']);
});

test('refuses at once what is over the bound of a credential, of a network, or of all', () => {
  for (let index = 0; index < 2; index += 1) ask('x');
  for (let index = 0; index < 4; index += 1) ask('a');
  expect(admission.enter(at('a'))).toBe('refused');
  ask('a', 'a', 'another key');
  // Room is left for whoever has nothing yet, however many come.
  for (let index = 0; index < 7; index += 1) ask(`network ${index}`);
  expect(admission.enter(at('y'))).toBe('refused');
  expect([admission.waiting, admission.refused]).toEqual([12, 2]);
});

test('refuses requests that have not begun in time, and every request gets an answer', async () => {
  for (let index = 0; index < 2; index += 1) ask('x');
  ask('a');
  await vi.advanceTimersByTimeAsync(limits.waitMs - 1);
  ask('b');
  await vi.advanceTimersByTimeAsync(1);
  expect(order).toEqual(['x', 'x', 'a refused']);
  await vi.advanceTimersByTimeAsync(limits.waitMs);
  expect(order.at(-1)).toBe('b refused');
  expect(admission.waiting).toBe(0);
});

test('a request that takes very long releases its slot, once', async () => {
  const leave = (admission.enter(at('x')), admission.begin());
  expect(admission.enter(at('x'))).toBe('admitted');
  admission.begin();
  await vi.advanceTimersByTimeAsync(limits.workMs - limits.checkMs);
  expect(admission.working).toBe(2);
  await vi.advanceTimersByTimeAsync(limits.checkMs);
  expect(admission.working).toBe(0);
  leave();
  expect(admission.working).toBe(0);
});

test('a request that waits for the processor or the database keeps its slot, so that no more work starts than can be done', async () => {
  admission = new Admission();
  let admitted = 0;
  for (let index = 0; index < 200; index += 1) {
    const wait = admission.enter(at('x'));
    if (wait === 'admitted') admission.begin(() => false);
    else if (wait !== 'refused') void wait.then((isIn) => isIn && (admitted += 1));
  }
  await vi.advanceTimersByTimeAsync(ADMISSION.waitMs);
  expect([admission.working, admitted, admission.refused]).toEqual([ADMISSION.atOnce, 0, 200 - ADMISSION.atOnce]);
});

test('two hundred requests of one key that wait for slow routers, or keep streams open, are all let in', async () => {
  admission = new Admission();
  let admitted = 0;
  const one = async (_: unknown, index: number): Promise<void> => {
    if ((await admission.enter(at('x'))) === false) return;
    const leave = admission.begin(() => index % 2 === 0);
    admitted += 1;
    if (index % 2 === 1) setTimeout(leave, 1);
  };
  const all = Promise.all(Array.from({ length: 200 }, one));
  await vi.advanceTimersByTimeAsync(ADMISSION.waitMs - 1);
  await all;
  expect(admitted).toBe(200);
});
