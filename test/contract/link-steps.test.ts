import { expect, test } from 'vitest';
import { LinkQuality } from '../../server/fleet/links/service.ts';
import { AdoptedClock } from '../../server/platform/core/adopted-clock.ts';
import { STORED_WITHIN_MS } from '../../server/platform/core/step-writer.ts';
import type { StepRange } from '../../server/platform/core/time-steps.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Midnight UTC. */
const START = Date.UTC(2031, 4, 1);
const KEEP = { fineMs: 2 * DAY, hourlyMs: 10 * DAY };

function qualityOf(storage: Storage, clock: AdoptedClock, keep = KEEP): LinkQuality {
  const links = new LinkQuality({ storage, clock, log: silentLog, keep });
  links.start();
  return links;
}

/** Relative to the start of the test: minutes, pings, milliseconds. */
async function shown(links: LinkQuality, place: { teamId: string; agentId: string }, range: Partial<StepRange> = {}): Promise<unknown[]> {
  const points = await links.points(place.teamId, place.agentId, { from: START - DAY, to: START + 20 * DAY, stepMs: QUARTER, ...range });
  return points.map(({ from, to, pingsAnswered, pingsLost, roundTrip }) => [
    (from - START) / MINUTE,
    (to - START) / MINUTE,
    pingsAnswered,
    pingsLost,
    roundTrip && Math.round(roundTrip.min),
  ]);
}

describeEachDatabase('the quality of lines over time', (open) => {
  async function setting(keep = KEEP) {
    const storage = await open();
    const place = await seedRouter(storage, { now: START });
    const machine = new ManualClock(START);
    const clock = new AdoptedClock(machine);
    return { storage, place, machine, clock, links: qualityOf(storage, clock, keep) };
  }

  test('has round trips and losses of each quarter of an hour, and nothing for one without a ping', async () => {
    const { place, machine, links } = await setting();
    for (const ms of [10, 20, 30, 40, 200]) links.onPing(place.agentId, ms);
    links.onPing(place.agentId, null);
    machine.advance(2 * QUARTER);
    links.onPing(place.agentId, null);
    const [first, second] = await links.points(place.teamId, place.agentId, { from: START, to: START + HOUR, stepMs: QUARTER });
    expect(first).toMatchObject({ from: START, to: START + QUARTER, pingsAnswered: 5, pingsLost: 1 });
    expect(first!.roundTrip!.min).toBe(10);
    expect(first!.roundTrip!.p50 / 30).toBeCloseTo(1, 0.9);
    expect(first!.roundTrip!.p95 / 200).toBeCloseTo(1, 0.9);
    expect(second).toMatchObject({ from: START + 2 * QUARTER, pingsAnswered: 0, pingsLost: 1, roundTrip: null });
    expect(await shown(links, place, { stepMs: HOUR })).toEqual([[0, 60, 5, 2, 10]]);
  });

  test('of an agent is not shown to another team', async () => {
    const { storage, place, links } = await setting();
    const other = await seedRouter(storage);
    links.onPing(place.agentId, 10);
    expect(await shown(links, place)).toHaveLength(1);
    expect(await shown(links, { teamId: other.teamId, agentId: place.agentId })).toEqual([]);
  });

  test('survives a kill but for the last five minutes, and two lives of the control plane share a step', async () => {
    const { storage, place, machine, clock, links } = await setting();
    const rows = () => storage.db.selectFrom('agent_link_steps').select('answered').execute();
    links.onPing(place.agentId, 10);
    // What waits for a timer of the killed one never comes.
    for (let waited = 0; waited < STORED_WITHIN_MS; waited += 10_000) {
      machine.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await expect.poll(rows).toEqual([{ answered: 1 }]);
    links.onPing(place.agentId, 20);

    const next = qualityOf(storage, clock);
    next.onPing(place.agentId, 30);
    await next.stop();
    expect(await shown(next, place)).toEqual([[0, 15, 2, 0, 10]]);
    // The first was not killed after all: its last words count once, and beside the others.
    await links.stop();
    expect(await shown(next, place)).toEqual([[0, 15, 3, 0, 10]]);
  });

  test.each([
    ['ahead', 2 * HOUR],
    ['back', -2 * HOUR],
    ['back within a step', -MINUTE],
  ])('counts every ping once when the clock is set %s', async (_how, stepMs) => {
    const { storage, place, machine, clock, links } = await setting();
    const ping = async (count: number): Promise<void> => {
      for (let sent = 0; sent < count; sent += 1) links.onPing(place.agentId, 10);
      await links.points(place.teamId, place.agentId, { from: START, to: START + HOUR, stepMs: QUARTER });
    };
    await ping(3);
    machine.advance(QUARTER);
    await ping(4);
    machine.step(stepMs);
    await clock.adopt(() => Promise.resolve());
    await ping(5);
    machine.advance(QUARTER);
    await ping(6);
    await links.stop();
    const points = await links.points(place.teamId, place.agentId, { from: START - DAY, to: START + DAY, stepMs: QUARTER });
    expect(points.reduce((sum, { pingsAnswered }) => sum + pingsAnswered, 0)).toBe(18);
    const of = (at: number): number => points.find((point) => point.from === at)?.pingsAnswered ?? 0;
    const second = Math.floor((START + QUARTER + stepMs) / QUARTER) * QUARTER;
    expect(of(second)).toBe(5 + (second === START ? 3 : 0));
    expect((await storage.db.selectFrom('agent_link_steps').selectAll().execute()).every((row) => row.answered <= 6)).toBe(true);
  });

  test('a clock that trembles around the end of a step overwrites nothing', async () => {
    const { place, machine, clock, links } = await setting();
    machine.advance(QUARTER);
    for (const ms of [-300, 300, -300, 300]) {
      links.onPing(place.agentId, 10);
      machine.step(ms);
      await clock.adopt(() => Promise.resolve());
    }
    expect(await shown(links, place)).toEqual([
      [0, 15, 2, 0, 10],
      [15, 30, 2, 0, 10],
    ]);
  });

  test('becomes hours with the same counts and quantiles, and is forgotten at last', async () => {
    const { storage, place, machine, links } = await setting();
    for (let ping = 0; ping < 8 * 15; ping += 1) {
      links.onPing(place.agentId, ping % 40 === 0 ? null : 5 + (ping % 13) * 9);
      machine.advance(MINUTE);
    }
    const hour = { from: START, to: START + 2 * HOUR, stepMs: HOUR };
    const before = await links.points(place.teamId, place.agentId, hour);
    const rows = async () => (await storage.db.selectFrom('agent_link_steps').select('span_s').execute()).map((row) => row.span_s);
    expect(await rows()).toEqual(Array.from({ length: 8 }, () => 900));

    await links.sweep();
    expect(await rows()).toHaveLength(8);
    machine.advance(KEEP.fineMs);
    await links.sweep();
    expect(await rows()).toEqual([3600, 3600]);
    expect(await links.points(place.teamId, place.agentId, hour)).toEqual(before);
    expect(before.map(({ pingsAnswered, pingsLost }) => [pingsAnswered, pingsLost])).toEqual([
      [58, 2],
      [59, 1],
    ]);
    // Asked for quarters, it says that it has hours.
    expect(await shown(links, place)).toEqual([
      [0, 60, 58, 2, 5],
      [60, 120, 59, 1, 5],
    ]);
    // The range begins within an hour of which no quarters are left.
    expect(await shown(links, place, { from: START + 3 * QUARTER })).toHaveLength(2);
    expect(await shown(links, place, { from: START + HOUR })).toHaveLength(1);

    machine.advance(KEEP.hourlyMs - KEEP.fineMs - HOUR);
    await links.sweep();
    expect(await rows()).toEqual([3600]);
    machine.advance(HOUR);
    await links.sweep();
    expect(await rows()).toEqual([]);
  });

  test('never waits for the database', async () => {
    const { storage, place, clock, machine } = await setting();
    const stuck: Storage = { ...storage, db: storage.db, writes: { ...storage.writes, write: () => new Promise<never>(() => undefined) } };
    const links = qualityOf(stuck, clock);
    for (let step = 0; step < 10; step += 1) {
      links.onPing(place.agentId, 10);
      machine.advance(QUARTER);
    }
    expect(await storage.db.selectFrom('agent_link_steps').selectAll().execute()).toEqual([]);
  });
});
