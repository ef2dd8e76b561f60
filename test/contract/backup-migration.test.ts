import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { migrations } from '../../server/platform/storage/migrations/index.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { insertJob } from '../../server/work/jobs/store.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

/** SQLite cannot let a column be null later, so the column is replaced: nothing that is stored may go with it. */
test('backups of jobs keep their jobs and their parts when backups without jobs become possible', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-backups-'));
  const storage = await openStorage(`sqlite:${path.join(folder, 'test.db')}`, { log: silentLog });
  const step = migrations.find(({ name }) => name === 'requested backups')!.number;
  await migrate(
    storage,
    migrations.filter(({ number }) => number < step),
  );
  const { teamId, routerId } = await seedRouter(storage);
  await insertJob(storage.db, {
    id: 'job',
    teamId,
    routerId,
    siteId: null,
    token: 't',
    requestId: 'r',
    idempotencyKey: 'k',
    description: 'd',
    script: 's',
    expressExecute: true,
    needsAcknowledgement: true,
    makeBackup: true,
    notifyUrl: null,
    timeoutMs: 1000,
    now: 1,
    expiresAt: 2,
  });
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
