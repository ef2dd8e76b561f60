import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { newId } from '../../server/platform/core/ids.ts';
import { inChunks } from '../../server/platform/storage/columns.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { BATCH_MS, nextLimit, removeInBatches } from '../../server/platform/core/removal-batches.ts';
import { removeRecords } from '../../server/platform/storage/removal.ts';
import { deleteForgotten, deleteLostAliases } from '../../server/fleet/devices/store.ts';
import { deleteSessions } from '../../server/fleet/sessions/store.ts';
import { SitesService } from '../../server/fleet/sites/service.ts';
import { deleteStates } from '../../server/fleet/states/store.ts';
import { KEPT_TABLES, selectAged, selectBeyond } from '../../server/operations/retention/store.ts';
import type { AgedTable, KeptTable } from '../../server/operations/retention/store.ts';
import { selectThreadsBefore } from '../../server/outbound/notifications/retention/store.ts';
import { deleteSettledBefore } from '../../server/outbound/webhooks/store.ts';
import { deleteNoticesBefore } from '../../server/platform/notices/store.ts';
import * as backups from '../../server/work/backups/store.ts';
import { deleteConnectionsUntil } from '../../server/work/forwards/connections/store.ts';
import { selectJobsBefore } from '../../server/work/jobs/retention/store.ts';
import { selectOldRecordings } from '../../server/work/terminals/recording/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedDevices } from '../harness/many-records.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import { seedRouter } from '../harness/seed.ts';

const OLD = 1_000_000;

test('a batch grows while it is quick and shrinks when it is slow', () => {
  expect(nextLimit(16, 0)).toBe(32);
  expect(nextLimit(16, BATCH_MS)).toBe(16);
  expect(nextLimit(400, BATCH_MS / 4)).toBe(500);
  expect(nextLimit(100, BATCH_MS * 10)).toBe(10);
  expect(nextLimit(1, BATCH_MS * 1000)).toBe(1);
});

/** A campaign of many routers, each of which is a row. */
async function seedCampaign(storage: Storage, targets: number): Promise<{ id: string; teamId: string }> {
  const { teamId, agentId, routerId } = await seedRouter(storage);
  const id = newId(OLD);
  await sql`insert into campaigns (id, team_id, request_id, idempotency_key, created_by, description, script, express_execute,
    needs_acknowledgement, make_backup, deliver_within_minutes, canary_count, most_at_once, target_count, state, next_start_at, created_at,
    finished_at) values (${id}, ${teamId}, 'r', 'i', 'k', 'd', 's', 0, 0, 0, 1, 0, 1, ${targets}, 'completed', 0, ${OLD}, ${OLD})`.execute(
    storage.db,
  );
  const { hardware_id: hardware, ...router } = await storage.db
    .selectFrom('routers')
    .selectAll()
    .where('id', '=', routerId)
    .executeTakeFirstOrThrow();
  const ids = Array.from({ length: targets }, () => newId(OLD));
  for (const chunk of inChunks(ids, 500)) {
    const rows = chunk.map((one) => ({ ...router, id: one, agent_id: agentId, hardware_id: `${hardware} ${one}` }));
    await storage.db.insertInto('routers').values(rows).execute();
    const ofCampaign = chunk.map((one) => ({
      campaign_id: id,
      team_id: teamId,
      router_id: one,
      position: ids.indexOf(one),
      canary: 0 as const,
      status: 'completed',
      job_version: null,
      settled_at: OLD,
    }));
    await storage.db.insertInto('campaign_targets').values(ofCampaign).execute();
  }
  return { id, teamId };
}

describeEachDatabase('old records', (open) => {
  test('are deleted with thousands of children in batches, between which others write', async () => {
    const storage = await open();
    const { id } = await seedCampaign(storage, 3000);
    const sizes: number[] = [];
    let others = 0;
    const write: Storage['writes']['write'] = (work) =>
      storage.writes.write(async (tx) => {
        const before = await countRows(tx, 'campaign_targets');
        const result = await work(tx);
        sizes.push(before - (await countRows(tx, 'campaign_targets')));
        return result;
      });
    const removal = removeRecords(
      { writes: { write } },
      { table: 'campaigns', ids: [id], children: [{ table: 'campaign_targets', column: 'campaign_id' }] },
    );
    const end = removal.then(() => 'end');
    const other = () => storage.writes.write((tx) => tx.selectFrom('teams').select('id').execute());
    while ((await Promise.race([end, other()])) !== 'end') others += 1;
    await removal;
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(3000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(500);
    expect(others).toBeGreaterThan(sizes.length);
    expect(await storage.db.selectFrom('campaigns').select('id').execute()).toEqual([]);
  });

  test('stay after the batch in which the control plane stops', async () => {
    const storage = await open();
    const { id } = await seedCampaign(storage, 200);
    const stop = new AbortController();
    const batches: number[] = [];
    await removeInBatches(
      storage,
      async (_tx, limit) => {
        batches.push(limit);
        if (batches.length === 2) stop.abort();
        return limit;
      },
      { signal: stop.signal },
    );
    expect(batches).toHaveLength(2);
    await removeRecords(storage, { table: 'campaigns', ids: [id] }, { signal: stop.signal });
    expect(await storage.db.selectFrom('campaigns').select('id').execute()).toEqual([{ id }]);
  });

  test('of a site go in batches, devices with their entries in the index for searches', async () => {
    const storage = await open();
    const team = await seedManyRouters(storage, 1);
    const [siteId = ''] = team.sites;
    await seedDevices(storage, team, 1200, OLD);
    await storage.db.updateTable('routers').set({ site_id: null }).execute();
    const sizes: number[] = [];
    const write: Storage['writes']['write'] = (work) =>
      storage.writes.write(async (tx) => {
        const before = await countRows(tx, 'devices');
        const result = await work(tx);
        sizes.push(before - (await countRows(tx, 'devices')));
        return result;
      });
    const sites = new SitesService({ storage: { ...storage, writes: { write } }, clock: new ManualClock() });
    await sites.delete(team.teamId, siteId);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1200);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(500);
    expect(await countRows(storage.db, 'devices')).toBe(0);
    expect(await countRows(storage.db, 'sites')).toBe(0);
  });

  test('are found by an index, whatever the size of the table', async () => {
    const storage = await open();
    const team = await seedManyRouters(storage, 600);
    await seedDevices(storage, team, 600, OLD);
    await learnSizes(storage);
    const { teamId, routers } = team;
    const aged = Object.entries(KEPT_TABLES).flatMap(([table, kept]) => ('endedAt' in kept ? [table as AgedTable] : []));
    const ofTeam = (table: KeptTable) => (db: Storage['db']) =>
      selectBeyond(db, table, { teamId, beyond: { at: OLD, id: 'x' }, limit: 100, now: OLD });
    const looks: Record<string, (db: Storage['db']) => Promise<unknown>> = {
      ...Object.fromEntries(
        aged.map((table) => [
          `old ${table}`,
          (db: Storage['db']) => selectAged(db, table, { before: OLD, after: 'x', limit: 100, now: OLD }),
        ]),
      ),
      ...Object.fromEntries((Object.keys(KEPT_TABLES) as KeptTable[]).map((table) => [`surplus ${table}`, ofTeam(table)])),
      devices: (db) => deleteForgotten(db, { before: OLD, after: 'x', limit: 100 }),
      aliases: (db) => deleteLostAliases(db, { before: OLD, after: { teamId, mac: 'x' }, limit: 100 }),
      sessions: (db) => deleteSessions(db as never, OLD, 100),
      states: (db) => deleteStates(db as never, OLD, 100),
      threads: (db) => selectThreadsBefore(db, OLD, 100),
      notices: (db) => deleteNoticesBefore(db, OLD, 100),
      updates: (db) => deleteSettledBefore(db, OLD, 100),
      jobs: (db) => selectJobsBefore(db, { before: OLD, after: 'x', limit: 100 }),
      connections: (db) => deleteConnectionsUntil(db, OLD, 100),
      recordings: (db) => selectOldRecordings(db, OLD, 100),
      'missed backups': (db) => backups.selectMissed(db, 100),
      'old backups': (db) => backups.selectAged(db, OLD, 100),
      'surplus of backups': (db) => backups.selectSurplus(db, { routerIds: routers.slice(0, 20), keepPerRouter: 50, limit: 100 }),
    };
    for (const [name, look] of Object.entries(looks)) {
      const plans = await plansOf(storage, look);
      expect(plans.length, name).toBeGreaterThan(0);
      for (const { reads, text } of plans)
        for (const { table, index } of reads.filter((read) => !/subquery|ranked|ANY_/.test(read.table)))
          expect(index, `${name}, ${table}: ${text}`).not.toBeNull();
    }
  });
});

async function countRows(db: Storage['db'], table: 'campaign_targets' | 'devices' | 'sites'): Promise<number> {
  const { count } = await db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
