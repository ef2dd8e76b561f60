import { expect, test } from 'vitest';
import { DueWork } from '../../../server/platform/core/due-work.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

interface Item {
  id: string;
}

/** Work whose reads and runs end when the test says so. */
function controlled() {
  const reads: PromiseWithResolvers<readonly Item[]>[] = [];
  const claimed: string[] = [];
  const runs = new Map<string, PromiseWithResolvers<void>>();
  const clock = new ManualClock();
  const work = new DueWork<Item, Item>({
    clock,
    log: silentLog,
    atOnce: { total: 10, perParty: 10, perMember: 10 },
    pollMs: 1000,
    stopWithinMs: 60_000,
    failure: 'it could not be read',
    selectDue: () => {
      const read = Promise.withResolvers<readonly Item[]>();
      reads.push(read);
      return read.promise;
    },
    holderOf: ({ id }) => ({ party: id }),
    claim: (chosen) => {
      for (const { id } of chosen) claimed.push(id);
      return Promise.resolve(chosen);
    },
    run: ({ id }) => {
      const run = Promise.withResolvers<void>();
      runs.set(id, run);
      return run.promise;
    },
    selectNextDue: () => Promise.resolve(null),
  });
  return { work, clock, reads, claimed, runs };
}

test('its stop waits for what runs, and nothing is read or begun afterwards', async () => {
  const { work, clock, reads, claimed, runs } = controlled();
  work.wake();
  await expect.poll(() => reads.length).toBe(1);
  reads[0]!.resolve([{ id: 'a' }]);
  await expect.poll(() => runs.size).toBe(1);
  await expect.poll(() => reads.length).toBe(2);
  reads[1]!.resolve([]);
  let isStopped = false;
  const stopped = work.stop().then(() => (isStopped = true));
  work.wake();
  await new Promise(setImmediate);
  expect(isStopped).toBe(false);
  runs.get('a')!.resolve();
  await stopped;
  work.wake();
  clock.advance(10_000);
  await new Promise(setImmediate);
  expect([reads.length, claimed]).toEqual([2, ['a']]);
});

test('items that were being read when it was stopped are left for the next process', async () => {
  const { work, reads, claimed } = controlled();
  work.wake();
  await expect.poll(() => reads.length).toBe(1);
  const stopped = work.stop();
  reads[0]!.resolve([{ id: 'a' }]);
  await stopped;
  expect(claimed).toEqual([]);
  expect(work.shares.taken).toBe(0);
});
