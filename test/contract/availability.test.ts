import { beforeEach, expect, test } from 'vitest';
import { availabilityRoutes } from '../../server/fleet/availability/routes.ts';
import { AvailabilityService } from '../../server/fleet/availability/service.ts';
import { selectRuns, selectStatesBefore, statesDuring } from '../../server/fleet/availability/store.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { TeamApp } from '../harness/team-app.ts';

const HOUR = 3_600_000;
/** The night in which the clocks of Berlin went back: 03:00 at 01:00 UTC became 02:00. */
const NIGHT = Date.parse('2026-10-25T00:00Z');
const NOW = Date.parse('2026-10-26T12:00Z');

interface Shown {
  router_id: string;
  time_zone: string;
  total: Record<string, number | null>;
  buckets: ({ from: string; to: string; percent_of_known: number | null } & Record<
    'answering' | 'not_answering' | 'agent_away' | 'unknown',
    number
  >)[];
}

describeEachDatabase('availability', (open) => {
  let storage: Storage;
  let app: TeamApp;
  let place: SeededRouter;
  const runs: { former: undefined; currentId: string | undefined } = { former: undefined, currentId: undefined };

  const addRun = async (from: number, alive: number, stopped: number | null): Promise<string> => {
    const id = newId(from);
    await storage.db.insertInto('server_runs').values({ id, started_at: from, alive_at: alive, stopped_at: stopped }).execute();
    return id;
  };
  const addState = async (router: SeededRouter, state: string, since: number, until: number | null): Promise<void> => {
    const row = { id: newId(since), team_id: router.teamId, router_id: router.routerId, state, reason: null, since, until };
    await storage.db.insertInto('router_state_changes').values(row).execute();
  };
  const addSite = async (timeZone: string | null): Promise<void> => {
    const id = newId(1000);
    await storage.db
      .insertInto('sites')
      .values({ id, team_id: place.teamId, name: id, time_zone: timeZone, latitude: null, longitude: null, created_at: 1000 })
      .execute();
    await storage.db.updateTable('routers').set({ site_id: id }).where('id', '=', place.routerId).execute();
  };
  const read = async (query: string, id = place.routerId): Promise<Shown> => {
    const { status, body } = await app.get(place.teamId, `/api/routers/${id}/availability${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body['data'] as Shown;
  };
  const readMany = async (query: string, teamId = place.teamId) => {
    const { status, headers, body } = await app.get(teamId, `/api/availability${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return { data: body['data'] as Shown[], link: headers['link'] as string | undefined };
  };

  beforeEach(async () => {
    storage = await open();
    place = await seedRouter(storage, { now: NIGHT - 400 * 24 * HOUR });
    const availability = new AvailabilityService({
      storage,
      clock: new ManualClock(NOW),
      states: { history: { stored: async () => undefined } } as never,
      runs,
    });
    app = new TeamApp((scope) => availabilityRoutes(scope, { availability }));
    runs.currentId = undefined;
  });

  test('over a night in which the clocks go back, with a control plane that was killed and one that was stopped', async () => {
    await addSite('Europe/Berlin');
    // Killed: the last sign of life counts. Then stopped. The third one goes on, whatever its row says.
    await addRun(NIGHT - 48 * HOUR, NIGHT + 1 * HOUR, null);
    await addRun(NIGHT + 2 * HOUR, NIGHT + 20 * HOUR, NIGHT + 20 * HOUR);
    runs.currentId = await addRun(NIGHT + 23 * HOUR, NIGHT + 23 * HOUR, null);
    await addState(place, 'never_seen', NIGHT - 48 * HOUR, NIGHT - 26 * HOUR);
    await addState(place, 'answering', NIGHT - 26 * HOUR, NIGHT + 1 * HOUR);
    await addState(place, 'agent_away', NIGHT + 1 * HOUR, NIGHT + 3 * HOUR);
    await addState(place, 'not_answering', NIGHT + 3 * HOUR, NIGHT + 3.5 * HOUR);
    await addState(place, 'answering', NIGHT + 3.5 * HOUR, NIGHT + 20 * HOUR);
    await addState(place, 'agent_away', NIGHT + 20 * HOUR, NIGHT + 24 * HOUR);
    await addState(place, 'answering', NIGHT + 24 * HOUR, null);

    const shown = await read('?bucket=day&from=2026-10-22T22:00:00Z');
    expect(shown).toMatchObject({ router_id: place.routerId, time_zone: 'Europe/Berlin' });
    const hours = shown.buckets.map(({ from, answering, not_answering: silent, agent_away: away, unknown, percent_of_known: percent }) => [
      from,
      ...[answering, silent, away, unknown].map((seconds) => seconds / 3600),
      percent,
    ]);
    expect(hours).toEqual([
      ['2026-10-22T22:00:00.000Z', 0, 0, 0, 24, null],
      ['2026-10-23T22:00:00.000Z', 24, 0, 0, 0, 100],
      // The 25 hours of Sunday: 3 until the kill, 1 without a control plane, 1 away, 0.5 silent, 16.5, and 3 without one again.
      ['2026-10-24T22:00:00.000Z', 3 + 16.5, 0.5, 1, 1 + 3, 92.857],
      ['2026-10-25T23:00:00.000Z', 12, 0, 1, 0, 92.307],
    ]);
    for (const { from, to, answering, not_answering: silent, agent_away: away, unknown } of shown.buckets)
      expect((answering + silent + away + unknown) * 1000).toBe(Date.parse(to) - Date.parse(from));
    expect(shown.total).toMatchObject({ answering: 55.5 * 3600, unknown: 28 * 3600, percent_of_known: 95.689 });
  });

  test('adjacent questions together are the wider one', async () => {
    runs.currentId = await addRun(NIGHT - 48 * HOUR, NIGHT, null);
    for (let hour = -40; hour < 30; hour += 1)
      await addState(place, hour % 3 === 0 ? 'agent_away' : 'answering', NIGHT + hour * HOUR - 777, NIGHT + (hour + 1) * HOUR - 777);
    const [from, middle, to] = ['2026-10-23T10:00:00Z', '2026-10-24T17:31:00.123Z', '2026-10-26T01:00:00Z'];
    const ask = async (one: string, other: string) => (await read(`?bucket=hour&time_zone=Asia/Kathmandu&from=${one}&to=${other}`)).total;
    const [first, second, whole] = [await ask(from, middle), await ask(middle, to), await ask(from, to)];
    for (const share of ['answering', 'not_answering', 'agent_away', 'unknown'])
      expect(first[share]! + second[share]!).toBeCloseTo(whole[share]!, 6);
    expect(whole['agent_away']).toBeGreaterThan(0);
  });

  test('the zone is the one asked for, else of the site, else of the router, else UTC', async () => {
    const zone = async (query = '') => (await read(query)).time_zone;
    expect(await zone()).toBe('UTC');
    await storage.db.updateTable('routers').set({ time_zone: 'Asia/Tokyo' }).where('id', '=', place.routerId).execute();
    expect(await zone()).toBe('Asia/Tokyo');
    await storage.db.updateTable('routers').set({ time_zone: 'manual' }).where('id', '=', place.routerId).execute();
    expect(await zone()).toBe('UTC');
    await addSite('Europe/Berlin');
    expect(await zone()).toBe('Europe/Berlin');
    expect(await zone('?time_zone=america/new_york')).toBe('America/New_York');
  });

  test('what is asked wrongly is named', async () => {
    for (const [query, field] of [
      ['?bucket=minute', 'bucket'],
      ['?time_zone=Mars/Olympus', 'time_zone'],
      ['?from=2026-10-25T00:00:00Z&to=2026-10-25T00:00:00Z', 'from'],
      ['?from=2126-10-25T00:00:00Z', 'from'],
      ['?bucket=hour&from=2025-10-25T00:00:00Z', 'bucket'],
    ] as const) {
      const { status, body } = await app.get(place.teamId, `/api/routers/${place.routerId}/availability${query}`);
      expect([status, Object.keys(body['errors'] as object)], query).toEqual([422, [field]]);
    }
  });

  test("another team's router does not exist, and one that was removed still has its past", async () => {
    const stranger = await seedRouter(storage);
    expect((await app.get(stranger.teamId, `/api/routers/${place.routerId}/availability`)).status).toBe(404);
    expect((await readMany(`?router_ids=${place.routerId}`, stranger.teamId)).data).toEqual([]);
    await storage.db.updateTable('routers').set({ removed_at: NOW }).where('id', '=', place.routerId).execute();
    runs.currentId = await addRun(NIGHT, NIGHT, null);
    await addState(place, 'answering', NIGHT, NIGHT + HOUR);
    expect((await read('')).total['answering']).toBe(3600);
    expect((await readMany('')).data).toEqual([]);
    expect((await readMany(`?router_ids=${place.routerId},${stranger.routerId}`)).data).toHaveLength(1);
  });

  test('many routers have pages, and each its own state', async () => {
    const second = await seedRouter(storage, { teamId: place.teamId, agentId: place.agentId, now: NIGHT - 2 * HOUR });
    runs.currentId = await addRun(NIGHT - HOUR, NIGHT, null);
    await addState(place, 'answering', NIGHT - HOUR, null);
    await addState(second, 'agent_away', NIGHT - 2 * HOUR, null);
    const query = '?bucket=hour&from=2026-10-25T10:00:00Z&to=2026-10-25T12:00:00Z';
    const first = await readMany(`${query}&limit=1`);
    const rest = await readMany(/<\/api\/availability([^>]*)>; rel="next"/.exec(first.link!)![1]!);
    expect([...first.data, ...rest.data].map(({ router_id: id, total }) => [id, total['answering'], total['agent_away']])).toEqual([
      [second.routerId, 0, 7200],
      [place.routerId, 7200, 0],
    ]);
    expect((await readMany(query)).data).toEqual([...first.data, ...rest.data]);
  });

  test('more changes of state than one answer may read are refused', async () => {
    const few = new AvailabilityService({
      storage,
      clock: new ManualClock(NOW),
      states: { history: { stored: async () => undefined } } as never,
      runs,
      mostChanges: 3,
    });
    const question = { size: 'day', from: undefined, to: undefined, timeZone: undefined } as const;
    for (let hour = 0; hour < 3; hour += 1) await addState(place, 'answering', NIGHT + hour * HOUR, NIGHT + (hour + 1) * HOUR);
    await few.ofRouter(place.teamId, place.routerId, question);
    await addState(place, 'answering', NIGHT + 3 * HOUR, null);
    await expect(few.ofRouter(place.teamId, place.routerId, question)).rejects.toMatchObject({
      code: 'invalid',
      errors: { from: [expect.any(String)] },
    });
  });

  test('every statement finds its rows by an index', async () => {
    const many = await seedManyRouters(storage, 300);
    const rows = many.routers.flatMap((routerId, router) =>
      Array.from({ length: 20 }, (_, index) => ({
        id: newId(NIGHT + index),
        team_id: many.teamId,
        router_id: routerId,
        state: index % 2 === 0 ? 'answering' : 'agent_away',
        reason: null,
        since: NIGHT + index * 1000 + router,
        until: NIGHT + (index + 1) * 1000 + router,
      })),
    );
    for (let at = 0; at < rows.length; at += 1000)
      await storage.db
        .insertInto('router_state_changes')
        .values(rows.slice(at, at + 1000))
        .execute();
    const past = Array.from({ length: 1000 }, (_, hour) => NIGHT - hour * HOUR).map((at) => ({
      id: newId(at),
      started_at: at,
      alive_at: at,
      stopped_at: at,
    }));
    await storage.db.insertInto('server_runs').values(past).execute();
    await learnSizes(storage);
    const span = { from: NIGHT + 5000, to: NIGHT + 15_000 };
    const plans = await plansOf(storage, async (db) => {
      await selectRuns(db, span);
      await selectStatesBefore(db, many.teamId, many.routers.slice(0, 200), span.from);
      for await (const rows of statesDuring(db, many.teamId, many.routers[7]!, span)) expect(rows).toHaveLength(10);
    });
    expect(plans).toHaveLength(6);
    for (const plan of plans) {
      expect(plan.reads.length, plan.text).toBeGreaterThan(0);
      for (const { index } of plan.reads) expect(index, plan.text).not.toBeNull();
      if (!plan.statement.includes('server_runs')) expect(plan.statement).toContain('team_id');
      expect(plan.sorted, plan.text).toBeLessThanOrEqual(200);
    }
  });
});
