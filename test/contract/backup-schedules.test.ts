import { afterEach, beforeEach, expect, test } from 'vitest';
import { SitesService } from '../../server/fleet/sites/service.ts';
import { FIRST_PAGE } from '../../server/platform/core/page.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { BackupSchedules } from '../../server/work/backups/schedules/service.ts';
import { selectBeyondKept } from '../../server/work/backups/schedules/store.ts';
import type { NewSchedule } from '../../server/work/backups/schedules/types.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Noon in UTC. */
const NOON = Date.parse('2031-05-01T12:00:00Z');
const FIELDS = { minutes: 150, timeZone: 'UTC', spreadMinutes: 30, keep: 3, enabled: true };

describeEachDatabase('backup schedules', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let sites: SitesService;
  let schedules: BackupSchedules;
  let teamId: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(NOON);
    sites = new SitesService({ storage, clock });
    schedules = new BackupSchedules({ storage, clock, log: silentLog, sites });
    teamId = (await seedTeam(storage)).teamId;
  });
  afterEach(() => schedules.stop());

  const create = (change: Partial<NewSchedule> = {}) => schedules.create({ teamId, siteId: null, ...FIELDS, ...change });

  async function router(siteId: string | null = null, ofTeam = teamId): Promise<string> {
    const { routerId } = await seedRouter(storage, { teamId: ofTeam });
    await storage.db.updateTable('routers').set({ site_id: siteId }).where('id', '=', routerId).execute();
    return routerId;
  }

  const site = async (name: string, timeZone: string | null): Promise<string> => (await sites.create({ teamId, name, timeZone })).id;

  /** Planned so far: router and moment in minutes since the start of the test. */
  async function planned(): Promise<{ routerId: string; at: number }[]> {
    const rows = await storage.db.selectFrom('backups').selectAll().orderBy('due_at').execute();
    expect(rows.every(({ origin, wanted, job_id: jobId }) => origin === 'schedule' && wanted === '["export"]' && jobId === null)).toBe(
      true,
    );
    return rows.map(({ router_id: routerId, due_at: dueAt }) => ({ routerId, at: (dueAt! - NOON) / MINUTE }));
  }

  /** As if all that waits had been fetched. */
  async function store(): Promise<void> {
    await storage.db
      .updateTable('backups')
      .set({ state: 'stored', stored_at: clock.now(), due_at: null })
      .where('state', '=', 'pending')
      .execute();
  }

  test('run at their time, not before, once a day', async () => {
    const routerId = await router();
    const { nextAt } = await create();
    expect(nextAt).toBe(Date.parse('2031-05-02T02:30:00Z'));
    clock.advance(14 * HOUR);
    await schedules.runDue();
    expect(await planned()).toEqual([]);
    clock.advance(30 * MINUTE);
    await schedules.runDue();
    await schedules.runDue();
    expect(await planned()).toEqual([{ routerId, at: 14.5 * 60 }]);
    await store();
    clock.advance(DAY);
    await schedules.runDue();
    expect(await storage.db.selectFrom('backups').select('id').execute()).toHaveLength(2);
  });

  test('spread a thousand routers evenly over their time', async () => {
    const { agentId } = await seedRouter(storage, { teamId });
    for (let count = 1; count < 1000; count += 1) await seedRouter(storage, { teamId, agentId });
    await create({ spreadMinutes: 50 });
    clock.advance(DAY);
    await schedules.runDue();
    const moments = (await planned()).map(({ at }) => at * 60 - DAY / 1000);
    expect(moments).toHaveLength(1000);
    const perSecond = Map.groupBy(moments, (second) => Math.floor(second));
    expect(Math.max(...[...perSecond.values()].map((each) => each.length))).toBe(1);
    expect(moments.at(-1)).toBeGreaterThan(49 * 60);
    expect(moments.at(-1)).toBeLessThan(50 * 60);
  });

  test('go by the time zone of each site; a site with its own schedule is left out', async () => {
    const [berlin, tokyo, own] = [await site('Berlin', 'Europe/Berlin'), await site('Tokyo', 'Asia/Tokyo'), await site('Own', 'UTC')];
    const [inBerlin, inTokyo, inOwn, nowhere] = [await router(berlin), await router(tokyo), await router(own), await router()];
    await create({ timeZone: 'America/New_York' });
    await create({ siteId: own, minutes: 20 * 60 });
    for (let half = 0; half < 48; half += 1) {
      clock.advance(30 * MINUTE);
      await schedules.runDue();
    }
    // 02:30 in Tokyo is 17:30, in Berlin 00:30, in New York 06:30 in UTC; the own one at 20:00.
    expect(await planned()).toEqual([
      { routerId: inTokyo, at: 5.5 * 60 },
      { routerId: inOwn, at: 8 * 60 },
      { routerId: inBerlin, at: 12.5 * 60 },
      { routerId: nowhere, at: 18.5 * 60 },
    ]);
  });

  test('make up for the runs of three days without a control plane with one', async () => {
    await router();
    await create();
    clock.advance(3 * DAY);
    const again = new BackupSchedules({ storage, clock, log: silentLog, sites });
    await again.runDue();
    await store();
    await again.runDue();
    expect(await storage.db.selectFrom('backups').select('created_at').execute()).toEqual([{ created_at: NOON + 3 * DAY }]);
  });

  test('that are planned again after a crash do not take a second backup that waits', async () => {
    await router();
    const { record } = await create();
    clock.advance(DAY);
    await schedules.runDue();
    await storage.db.updateTable('backup_schedules').set({ runs: '{}' }).where('id', '=', record.id).execute();
    await schedules.runDue();
    expect(await planned()).toHaveLength(1);
  });

  test('are planned by one of several control planes', async () => {
    await router();
    const { record } = await create();
    clock.advance(DAY);
    const planner = (isOwner: boolean) =>
      new BackupSchedules({ storage, clock, log: silentLog, sites, members: { isOwn: (id) => isOwner && id === record.id } });
    await planner(false).runDue();
    expect(await planned()).toEqual([]);
    await planner(true).runDue();
    expect(await planned()).toHaveLength(1);
  });

  test('take one backup of each router when two control planes plan the same run', async () => {
    const routers = [await router(), await router(), await router()];
    const { record } = await create();
    const two = [1, 2].map(() => new BackupSchedules({ storage, clock, log: silentLog, sites, members: { isOwn: () => true } }));
    clock.advance(DAY);
    await Promise.all(two.map((each) => each.runDue()));
    expect((await planned()).map(({ routerId }) => routerId).toSorted()).toEqual(routers.toSorted());
    // The other has read the schedule before, and comes when all is stored.
    await store();
    await storage.db.updateTable('backup_schedules').set({ runs: '{}' }).where('id', '=', record.id).execute();
    clock.advance(MINUTE);
    await two[1]!.runDue();
    expect(await storage.db.selectFrom('backups').select('id').execute()).toHaveLength(routers.length);
    clock.advance(DAY);
    await two[1]!.runDue();
    expect(await storage.db.selectFrom('backups').select('id').execute()).toHaveLength(2 * routers.length);
  });

  test('skip a router whose last export still waits, and routers that were removed or have no agent', async () => {
    const [waiting, removed, alone] = [await router(), await router(), await router()];
    await storage.db.updateTable('routers').set({ removed_at: NOON }).where('id', '=', removed).execute();
    await storage.db.updateTable('routers').set({ agent_router: '' }).where('id', '=', alone).execute();
    await create();
    clock.advance(DAY);
    await schedules.runDue();
    clock.advance(DAY);
    await schedules.runDue();
    expect((await planned()).map(({ routerId }) => routerId)).toEqual([waiting]);
  });

  test('keep so many stored exports of each router, and none of another schedule', async () => {
    await router();
    await create({ keep: 2 });
    for (let day = 0; day < 4; day += 1) {
      clock.advance(DAY);
      await schedules.runDue();
      await store();
    }
    const all = await storage.db.selectFrom('backups').select('id').orderBy('created_at').execute();
    expect((await selectBeyondKept(storage.db, 100)).toSorted()).toEqual(
      all
        .slice(0, 2)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  test('are switched off and on; a new time of day counts from now', async () => {
    await router();
    const { record } = await create();
    expect(await schedules.change(teamId, record.id, { enabled: false })).toMatchObject({ nextAt: null });
    clock.advance(DAY);
    await schedules.runDue();
    expect(await planned()).toEqual([]);
    await schedules.change(teamId, record.id, { enabled: true, minutes: 60 });
    await schedules.runDue();
    expect(await planned()).toEqual([]);
    clock.advance(DAY);
    await schedules.runDue();
    expect(await planned()).toHaveLength(1);
  });

  test('there is one for a team and one for each site, of this team only', async () => {
    const depot = await site('Depot', null);
    await create();
    await create({ siteId: depot });
    await expect(create()).rejects.toMatchObject({ code: 'conflict', message: 'the team has a schedule already' });
    await expect(create({ siteId: depot })).rejects.toMatchObject({ code: 'conflict', message: 'the site has a schedule already' });
    const other = (await seedTeam(storage)).teamId;
    await expect(create({ teamId: other, siteId: depot })).rejects.toMatchObject({
      code: 'invalid',
      errors: { site_id: expect.anything() },
    });
    const { record } = await create({ teamId: other });
    await expect(schedules.get(teamId, record.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(schedules.change(teamId, record.id, { keep: 1 })).rejects.toMatchObject({ code: 'not_found' });
    await expect(schedules.delete(teamId, record.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await schedules.list(other, FIRST_PAGE)).toHaveLength(1);
  });

  test('leave their backups behind when they are deleted, also with their site', async () => {
    const depot = await site('Depot', null);
    const routerId = await router(depot);
    await create({ siteId: depot });
    clock.advance(DAY);
    await schedules.runDue();
    await storage.db.updateTable('routers').set({ site_id: null }).where('id', '=', routerId).execute();
    await storage.db.updateTable('agents').set({ site_id: null }).execute();
    await sites.delete(teamId, depot);
    expect(await schedules.list(teamId, FIRST_PAGE)).toEqual([]);
    expect(await storage.db.selectFrom('backups').select(['router_id', 'schedule_id']).execute()).toEqual([
      { router_id: routerId, schedule_id: null },
    ]);
  });
});
