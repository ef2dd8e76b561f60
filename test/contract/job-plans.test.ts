import { describe, expect, test } from 'vitest';
import { selectHeldBefore } from '../../server/work/jobs/hand-over/store.ts';
import { selectMissed } from '../../server/work/backups/store.ts';
import { selectJobsByKeys } from '../../server/work/jobs/intake/store.ts';
import { countOpenJobs } from '../../server/work/jobs/store.ts';
import type { Db } from '../../server/platform/storage/db.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { plansOf } from '../harness/plans.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

/** SQLite chooses by the indexes alone, so a new index may change the plan of any query. PostgreSQL knows how many rows there are. */
describe('the plans of jobs on SQLite', () => {
  test.each<[string, string, (db: Db, ids: { teamId: string; routerId: string; agentId: string }) => Promise<unknown>]>([
    [
      'the job that a key has created is found by its key',
      'jobs_by_key',
      (db, { teamId, routerId }) => selectJobsByKeys(db, [{ teamId, routerId, idempotencyKey: 'key', since: 1 }]),
    ],
    [
      'the jobs that an agent holds are found by the agent',
      'jobs_by_agent_phase',
      (db, { teamId, agentId }) => selectHeldBefore(db, [{ teamId, agentId, epoch: 2 }]),
    ],
    ['the open jobs of a team are counted among the open ones', 'jobs_open_by_creator', (db, { teamId }) => countOpenJobs(db, teamId, 100)],
    [
      'jobs that have left a backup which was not recorded are looked for among those alone',
      'jobs_with_backup_to_record',
      (db) => selectMissed(db, 10),
    ],
  ])('%s', async (_name, index, query) => {
    const storage = await openStorage('sqlite::memory:', { log: silentLog });
    await migrate(storage);
    const ids = await seedRouter(storage);
    const reads = (await plansOf(storage, (db) => query(db, ids))).flatMap((plan) => plan.reads);
    const used = reads.filter(({ table }) => table === 'jobs').map((read) => read.index);
    expect(new Set(used)).toEqual(new Set([index]));
    await storage.close();
  });
});
