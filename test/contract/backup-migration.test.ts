import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Storage } from '../../server/platform/storage/db.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { migrations } from '../../server/platform/storage/migrations/index.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { selectMissed } from '../../server/work/backups/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

interface OldJob {
  id: string;
  teamId: string;
  routerId: string;
  phase?: string;
  at?: number;
  makeBackup?: 0 | 1;
}

/** With the columns of an old schema: the store's own statements are for the newest one. */
async function insertOldJob(storage: Storage, { id, teamId, routerId, phase = 'done', at = 1, makeBackup = 1 }: OldJob): Promise<void> {
  await sql`insert into jobs (id, team_id, router_id, token, request_id, idempotency_key, description, script, express_execute,
    needs_acknowledgement, make_backup, timeout_ms, phase, output_truncated, created_at, started_at, expires_at, version, notified_version)
    values (${id}, ${teamId}, ${routerId}, ${id}, ${id}, ${id}, 'd', 's', 1, 1, ${makeBackup}, 1000, ${phase}, 0, ${at}, ${at}, ${at}, 1, 0)
  `.execute(storage.db);
}

function before(name: string): typeof migrations {
  const step = migrations.find((migration) => migration.name === name)!.number;
  return migrations.filter(({ number }) => number < step);
}

/** SQLite cannot let a column be null later, so the column is replaced: nothing that is stored may go with it. */
test('backups of jobs keep their jobs and their parts when backups without jobs become possible', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-backups-'));
  const storage = await openStorage(`sqlite:${path.join(folder, 'test.db')}`, { log: silentLog });
  await migrate(storage, before('requested backups'));
  const { teamId, routerId } = await seedRouter(storage);
  await insertOldJob(storage, { id: 'job', teamId, routerId });
  await sql`insert into backups (id, team_id, router_id, job_id, state, attempts, created_at)
    values ('backup', ${teamId}, ${routerId}, 'job', 'stored', 0, 1)`.execute(storage.db);
  await sql`insert into backup_parts (backup_id, part, team_id, size, sha256, content, stored_at)
    values ('backup', 'export', ${teamId}, 1, 'x', 'y', 1)`.execute(storage.db);
  await migrate(storage);
  expect(await storage.db.selectFrom('backups').selectAll().execute()).toMatchObject([
    { id: 'backup', job_id: 'job', origin: 'job', wanted: null },
  ]);
  expect(await storage.db.selectFrom('backup_parts').select('backup_id').execute()).toEqual([{ backup_id: 'backup' }]);
  expect((await sql`pragma foreign_key_check`.execute(storage.db)).rows).toEqual([]);
  await storage.db.deleteFrom('jobs').execute();
  expect(await storage.db.selectFrom('backups').select('id').execute()).toEqual([]);
  await storage.close();
  await rm(folder, { recursive: true });
});

const DAY_MS = 24 * 3600_000;
const NOW = 100 * DAY_MS;

describeEachDatabase('an upgrade', (_open, kind) => {
  test('records what the former version had no time to record, and nothing that was deleted', async () => {
    const database = await kind.create();
    const storage = await openStorage(database.url, { log: silentLog });
    await migrate(storage, before('backups to record'));
    const first = await seedRouter(storage);
    const second = await seedRouter(storage);
    const third = await seedRouter(storage);
    const jobs: OldJob[] = [
      { ...first, id: 'deleted since', at: NOW - 2 * DAY_MS },
      { ...first, id: 'recorded', at: NOW - DAY_MS },
      { ...first, id: 'missed', at: NOW - 1000 },
      { ...first, id: 'without a backup', at: NOW, makeBackup: 0 },
      { ...first, id: 'under way', at: NOW - 50 * DAY_MS, phase: 'running' },
      { ...second, id: 'too old', at: NOW - 15 * DAY_MS },
      { ...second, id: 'under way, too', at: NOW - DAY_MS, phase: 'accepted' },
      // The clock was set back before their backups were recorded; of the second one, the end was not known at first.
      { ...third, id: 'recorded before it began', at: NOW - DAY_MS },
      { ...third, id: 'recorded, under way again', at: NOW - DAY_MS, phase: 'running' },
    ];
    for (const job of jobs) await insertOldJob(storage, job);
    const backups: [SeededRouter, job: string, at: number][] = [
      [first, 'recorded', NOW - DAY_MS],
      [third, 'recorded before it began', NOW - DAY_MS - 1000],
      [third, 'recorded, under way again', NOW - DAY_MS - 1000],
    ];
    for (const [{ teamId, routerId }, job, at] of backups)
      await sql`insert into backups (id, team_id, router_id, job_id, origin, state, attempts, created_at)
        values (${`backup ${job}`}, ${teamId}, ${routerId}, ${job}, 'job', 'stored', 0, ${at})`.execute(storage.db);
    await migrate(storage);
    expect((await selectMissed(storage.db, 10)).map(({ id }) => id)).toEqual(['missed']);
    await storage.db.updateTable('jobs').set({ phase: 'done' }).execute();
    expect((await selectMissed(storage.db, 10)).map(({ id }) => id)).toEqual(['under way', 'under way, too', 'missed']);
    await storage.close();
    await database.remove();
  });
});
