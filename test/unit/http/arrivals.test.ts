import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { ADMISSION, Admission } from '../../../server/platform/http/admission.ts';
import { Arrivals, RUSH_TURNS } from '../../../server/platform/core/arrivals.ts';

let server: EventEmitter;
beforeEach(() => {
  server = new EventEmitter();
});

/** One in each turn of the event loop, as Node accepts them. */
async function arrive(connections: number): Promise<void> {
  for (let index = 0; index < connections; index += 1) {
    server.emit('connection');
    await turn();
  }
}

/** Long enough to be noticed. */
async function nobodyComes(): Promise<void> {
  for (let index = 0; index < 3; index += 1) await turn();
}

test('connections in enough consecutive turns are a rush; it ends with a turn without a connection', async () => {
  const [onStep, onOver] = [vi.fn<(accepted: number) => void>(), vi.fn<() => void>()];
  const arrivals = new Arrivals(10, { onStep, onOver });
  arrivals.watch(server as Server);
  await arrive(RUSH_TURNS - 1);
  expect(arrivals.isRush).toBe(false);
  await arrive(1);
  expect(arrivals.isRush).toBe(true);
  await arrive(35);
  expect(onStep.mock.calls).toEqual([[10], [20], [30]]);
  expect(onOver).not.toHaveBeenCalled();
  await nobodyComes();
  expect(arrivals.isRush).toBe(false);
  expect(onOver).toHaveBeenCalledTimes(1);
});

test('ordinary traffic, with turns without a connection, is no rush', async () => {
  const arrivals = new Arrivals(10, { onStep: () => undefined, onOver: () => undefined });
  arrivals.watch(server as Server);
  for (let index = 0; index < 10; index += 1) {
    await arrive(RUSH_TURNS - 1);
    expect(arrivals.isRush).toBe(false);
    await nobodyComes();
  }
});

test('in a rush requests are let in bunch by bunch, and again as usual when it is over', async () => {
  const admission = new Admission({ ...ADMISSION, rush: { requests: 3, oneByOne: 0, connections: 20 } });
  admission.watch(server as Server);
  const enter = (): void => void admission.enter({ party: 'network', member: 'key' });
  await arrive(RUSH_TURNS);
  for (let index = 0; index < 10; index += 1) enter();
  expect([admission.working, admission.waiting]).toEqual([0, 10]);
  await arrive(19);
  expect(admission.working).toBe(0);
  await arrive(1);
  expect([admission.working, admission.waiting]).toEqual([3, 7]);
  await arrive(20);
  expect(admission.working).toBe(6);
  await nobodyComes();
  expect([admission.working, admission.waiting]).toEqual([10, 0]);
});

test('a caller that comes during a rush of another one does not wait for the next bunch', async () => {
  const admission = new Admission();
  admission.watch(server as Server);
  const { rush } = ADMISSION;
  const admitted: string[] = [];
  const ask = async (key: string): Promise<void> => {
    if ((await admission.enter({ party: 'network', member: key })) !== true) return;
    admitted.push(key);
    admission.begin()();
  };
  await arrive(RUSH_TURNS);
  for (let index = 0; index < 150; index += 1) void ask('greedy');
  await arrive(rush.connections);
  expect(admitted.length).toBe(rush.requests);
  void ask('modest');
  // The next place may still be the greedy caller's turn.
  await arrive((2 * rush.connections) / rush.oneByOne);
  expect(admitted.slice(rush.requests).toSorted()).toEqual(['greedy', 'modest']);
  const before = admitted.length;
  await arrive(rush.connections);
  expect(admitted.length).toBe(before + rush.requests);
});
