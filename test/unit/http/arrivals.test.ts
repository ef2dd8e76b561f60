import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { ADMISSION, Admission } from '../../../server/platform/http/admission.ts';
import { Arrivals, RUSH_TURNS } from '../../../server/platform/http/arrivals.ts';

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
  const [onBunch, onOver] = [vi.fn<() => void>(), vi.fn<() => void>()];
  const arrivals = new Arrivals(10, { onBunch, onOver });
  arrivals.watch(server as Server);
  await arrive(RUSH_TURNS - 1);
  expect(arrivals.isRush).toBe(false);
  await arrive(1);
  expect(arrivals.isRush).toBe(true);
  await arrive(35);
  expect(onBunch).toHaveBeenCalledTimes(3);
  expect(onOver).not.toHaveBeenCalled();
  await nobodyComes();
  expect(arrivals.isRush).toBe(false);
  expect(onOver).toHaveBeenCalledTimes(1);
});

test('ordinary traffic, with turns without a connection, is no rush', async () => {
  const arrivals = new Arrivals(10, { onBunch: () => undefined, onOver: () => undefined });
  arrivals.watch(server as Server);
  for (let index = 0; index < 10; index += 1) {
    await arrive(RUSH_TURNS - 1);
    expect(arrivals.isRush).toBe(false);
    await nobodyComes();
  }
});

test('in a rush requests are let in bunch by bunch, and again as usual when it is over', async () => {
  const admission = new Admission({ ...ADMISSION, rush: { requests: 3, connections: 20 } });
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
