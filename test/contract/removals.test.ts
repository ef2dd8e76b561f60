import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { newId } from '../../server/platform/core/ids.ts';
import { inChunks } from '../../server/platform/storage/columns.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { BATCH_MS, nextLimit, removeInBatches } from '../../server/platform/core/removal-batches.ts';
import { removeRecords } from '../../server/platform/storage/removal.ts';
import { describeEachDatabase } from '../harness/databases.ts';
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
        const before = await countTargets(tx);
        const result = await work(tx);
        sizes.push(before - (await countTargets(tx)));
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
});

async function countTargets(db: Storage['db']): Promise<number> {
  const { count } = await db
    .selectFrom('campaign_targets')
    .select((eb) => eb.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
