import { expect, test } from 'vitest';
import type { HealthReadings } from '../../protocol/index.ts';
import { FaultsService } from '../../server/fleet/faults/service.ts';
import { selectFaults } from '../../server/fleet/faults/store.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { NO_STATES } from '../harness/faults-bench.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

/** A hostile agent reports faults and recoveries thousands of times per second. */
function readingsOf(isBad: boolean, n = 0): HealthReadings {
  return {
    cpu_load: isBad ? 100 : 1,
    temperatures: [{ name: 'cpu', celsius: isBad ? 200 + n : 30 }],
    voltage: isBad ? 1 : 24,
    free_memory: null,
    total_memory: null,
    free_hdd: isBad ? 1 : 1000,
    total_hdd: 1000,
    clock_offset_seconds: isBad ? 1000 + n : 0,
    wan: [{ interface: 'ether1', running: !isBad }],
    position: null,
    states: [
      { name: 'psu1-state', state: isBad ? 'fail' : 'ok' },
      { name: 'fan1-state', state: isBad ? 'fail' : 'ok' },
    ],
    bad_blocks: isBad ? 50 : 0,
  };
}

describeEachDatabase('an agent whose routers break and recover thousands of times a second', (open) => {
  test('costs no other team a fault or a delay, and stores the final state of every fault', async () => {
    const storage = await open();
    const clock = new ManualClock();
    const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 } });
    const hostile = [await seedRouter(storage)];
    for (let n = 1; n < 20; n += 1) hostile.push(await seedRouter(storage, hostile[0]));
    const neighbour = await seedRouter(storage);
    const told: string[] = [];
    const faults = new FaultsService({
      storage,
      clock,
      log: silentLog,
      rules: { heartbeatMs: 30_000, offlineAfterMs: 75_000 },
      states: NO_STATES,
      routers,
      onFault: ({ fault }) => told.push(fault.team_id),
    });
    await faults.start();
    const say = ({ teamId, agentId, routerId }: SeededRouter, readings: HealthReadings): void =>
      faults.onHealth(
        { teamId, agentId, epoch: 1, address: '198.51.100.7', reset: false },
        { type: 'health', router: `router ${routerId}`, readings },
      );
    for (let n = 0; n < 1000; n += 1) for (const router of hostile) say(router, readingsOf(n % 20 < 10, n));
    for (let n = 0; n < 10; n += 1) say(neighbour, readingsOf(true));
    for (let n = 0; n < 10; n += 1) for (const router of hostile) say(router, readingsOf(false));
    await faults.stop();
    const open1 = await selectFaults(storage.db, { teamId: neighbour.teamId, status: 'open' }, { limit: 100, before: undefined });
    expect(open1.map(({ type }) => type).toSorted()).toEqual([
      'clock_wrong',
      'disk_failing',
      'disk_nearly_full',
      'fan_failed',
      'high_cpu',
      'power_supply_failed',
      'temperature',
      'voltage',
      'wan_down',
    ]);
    // Of two teams that wait, each has every other turn; of the hostile one's 2,500 events most come later.
    expect(told.lastIndexOf(neighbour.teamId)).toBeLessThan(1000);
    expect(await selectFaults(storage.db, { teamId: hostile[0]!.teamId, status: 'open' }, { limit: 100, before: undefined })).toEqual([]);
    expect(faults.waiting.taken).toBe(0);
  });
});
