import { expect, test } from 'vitest';
import { RouterHealth } from '../../server/fleet/health/service.ts';
import type { HealthReadings } from '../../protocol/index.ts';
import { AdoptedClock } from '../../server/platform/core/adopted-clock.ts';
import { STORED_WITHIN_MS } from '../../server/platform/core/step-writer.ts';
import type { StepRange } from '../../server/platform/core/time-steps.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Midnight UTC. */
const START = Date.UTC(2031, 4, 1);
const KEEP = { fineMs: 2 * DAY, hourlyMs: 10 * DAY };

const NOTHING: HealthReadings = {
  cpu_load: null,
  temperatures: [],
  voltage: null,
  free_memory: null,
  total_memory: null,
  free_hdd: null,
  total_hdd: null,
  clock_offset_seconds: null,
  wan: [],
  position: null,
};

describeEachDatabase('the health of routers over time', (open) => {
  async function setting() {
    const storage = await open();
    const place = await seedRouter(storage, { now: START });
    const machine = new ManualClock(START);
    const clock = new AdoptedClock(machine);
    return { storage, place, machine, clock, ...life(storage, clock, place) };
  }

  function life(storage: Storage, clock: AdoptedClock, { agentId, teamId, routerId }: SeededRouter) {
    const routers = { routerIdOf: (_agent: string, name: string) => (name === 'gw' ? routerId : undefined) };
    const health = new RouterHealth({ storage, clock, log: silentLog, routers, keep: KEEP });
    health.start();
    const connection = { agentId, teamId, epoch: 1, address: '::1', reset: false };
    const say = (readings: Partial<HealthReadings>, router = 'gw'): void =>
      health.onHealth(connection, { type: 'health', router, readings: { ...NOTHING, ...readings } });
    const points = (range: Partial<StepRange> = {}, team = teamId) =>
      health.points(team, routerId, { from: START - DAY, to: START + 20 * DAY, stepMs: QUARTER, ...range });
    return { health, say, points };
  }

  test('has least, mean and most of each quarter of an hour, and null for what a router does not report', async () => {
    const { machine, say, points } = await setting();
    const megabyte = 2 ** 20;
    for (const cpu_load of [10, 20, 60]) {
      const sensors = [
        { name: 'board', celsius: 30 },
        { name: 'cpu', celsius: 30 + cpu_load / 10 },
      ];
      say({ cpu_load, temperatures: sensors, voltage: 24.05, free_memory: 48 * megabyte, total_memory: 64 * megabyte });
      machine.advance(MINUTE);
    }
    say({ cpu_load: 100 }, 'a router that is not known');
    machine.advance(QUARTER);
    say({ voltage: 0, total_hdd: 0, free_hdd: 0, free_memory: 1 });
    expect(await points()).toEqual([
      {
        from: START,
        to: START + QUARTER,
        cpu: { min: 10, mean: 30, max: 60 },
        memory: { min: 25, mean: 25, max: 25 },
        disk: null,
        celsius: { min: 31, mean: 33, max: 36 },
        volts: { min: 24.05, mean: 24.05, max: 24.05 },
      },
      { from: START + QUARTER, to: START + 2 * QUARTER, cpu: null, memory: null, disk: null, celsius: null, volts: null },
    ]);
  });

  test('does not weigh an agent that reports without a pause, and holds its greatest values', async () => {
    const { machine, say, points } = await setting();
    for (let report = 0; report < 6000; report += 1) {
      say({ cpu_load: report === 0 ? 0 : 100, voltage: 10_000, temperatures: [{ name: 'x', celsius: -300 }] });
      machine.advance(100);
    }
    const [{ cpu, volts, celsius }] = (await points()) as [Awaited<ReturnType<typeof points>>[number]];
    expect(cpu).toEqual({ min: 0, mean: 98.3, max: 100 });
    expect(volts).toEqual({ min: 10_000, mean: 10_000, max: 10_000 });
    expect(celsius).toEqual({ min: -300, mean: -300, max: -300 });
  });

  test('is not shown to another team', async () => {
    const { storage, say, points } = await setting();
    const other = await seedRouter(storage);
    say({ cpu_load: 1 });
    expect(await points()).toHaveLength(1);
    expect(await points({}, other.teamId)).toEqual([]);
  });

  test('survives a kill but for the last five minutes, and two lives of the control plane share a step', async () => {
    const { storage, place, machine, clock, say } = await setting();
    say({ cpu_load: 10 });
    for (let waited = 0; waited < STORED_WITHIN_MS; waited += 10_000) {
      machine.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await expect.poll(() => storage.db.selectFrom('router_health_steps').select('cpu_sum').execute()).toEqual([{ cpu_sum: 100 }]);
    const next = life(storage, clock, place);
    next.say({ cpu_load: 40 });
    expect(await next.points()).toMatchObject([{ from: START, cpu: { min: 10, mean: 25, max: 40 } }]);
  });

  test.each([
    ['ahead', 2 * HOUR],
    ['back', -2 * HOUR],
    ['back within a step', -MINUTE],
  ])('counts every report once when the clock is set %s', async (_how, stepMs) => {
    const { storage, machine, clock, health, say } = await setting();
    for (let report = 0; report < 60; report += 1) {
      if (report === 20) machine.step(stepMs);
      await clock.adopt(() => Promise.resolve());
      say({ cpu_load: report });
      machine.advance(MINUTE);
    }
    await health.stop();
    const rows = await storage.db.selectFrom('router_health_steps').select(['cpu_count', 'cpu_sum']).execute();
    expect(rows.reduce((sum, row) => sum + row.cpu_count, 0)).toBe(60);
    expect(rows.reduce((sum, row) => sum + row.cpu_sum, 0)).toBe((59 * 60 * 10) / 2);
  });

  test('becomes hours in the database with the same sums, and is forgotten at last', async () => {
    const { storage, machine, health, say, points } = await setting();
    for (let report = 0; report < 120; report += 1) {
      say({ cpu_load: report % 7, voltage: report % 5 === 0 ? null : 24 });
      machine.advance(MINUTE);
    }
    const hours = { from: START, to: START + 2 * HOUR, stepMs: HOUR };
    const before = await points(hours);
    expect(before).toHaveLength(2);
    const spans = async () => (await storage.db.selectFrom('router_health_steps').select('span_s').execute()).map((row) => row.span_s);
    await health.sweep();
    expect(await spans()).toEqual(Array.from({ length: 8 }, () => 900));
    machine.advance(KEEP.fineMs);
    await health.sweep();
    await health.sweep();
    expect(await spans()).toEqual([3600, 3600]);
    expect(await points(hours)).toEqual(before);
    // Asked for quarters, it says that it has hours; also where the range begins within one.
    expect((await points({ from: START + QUARTER })).map(({ from, to }) => [from - START, to - START])).toEqual([
      [0, HOUR],
      [HOUR, 2 * HOUR],
    ]);
    machine.advance(KEEP.hourlyMs - KEEP.fineMs);
    await health.sweep();
    expect(await spans()).toEqual([]);
  });

  test('never waits for the database', async () => {
    const { storage, place, clock, machine } = await setting();
    const stuck: Storage = { ...storage, db: storage.db, writes: { ...storage.writes, write: () => new Promise<never>(() => undefined) } };
    const { say } = life(stuck, clock, place);
    for (let step = 0; step < 10; step += 1) {
      say({ cpu_load: 1 });
      machine.advance(QUARTER);
    }
    expect(await storage.db.selectFrom('router_health_steps').selectAll().execute()).toEqual([]);
  });
});
