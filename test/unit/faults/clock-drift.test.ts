import { expect, test } from 'vitest';
import type { HealthReadings } from '../../../protocol/index.ts';
import { RouterWatch } from '../../../server/fleet/faults/watch.ts';
import { inWords } from '../../harness/causes.ts';

function reading(clockOffset: number): HealthReadings {
  return {
    cpu_load: null,
    temperatures: [],
    voltage: null,
    free_memory: null,
    total_memory: null,
    free_hdd: null,
    total_hdd: null,
    clock_offset_seconds: clockOffset,
    wan: [],
    position: null,
  };
}

test('a drifting clock opens a fault with its present drift, and causes no changes while it stays', () => {
  const watch = new RouterWatch(
    { heartbeatMs: 30_000, offlineAfterMs: 75_000 },
    { uptimeSeconds: null, lastSeenAt: null, openFaults: [], watchedSince: 0 },
  );
  watch.onHealth(reading(120), 1000);
  expect(inWords(watch.onHealth(reading(120), 2000))).toMatchObject([
    { kind: 'open', type: 'clock_wrong', finding: { cause: 'it is 2 minutes ahead' } },
  ]);
  expect(watch.onHealth(reading(120), 3000)).toEqual([]);
  expect(inWords(watch.onHealth(reading(7200), 4000))).toMatchObject([
    { kind: 'describe', type: 'clock_wrong', finding: { cause: 'it is 2 hours ahead' } },
  ]);
  expect(watch.onHealth(reading(7200), 5000)).toEqual([]);
});
