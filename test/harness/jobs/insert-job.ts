import type { DbOrTx } from '../../../server/platform/storage/db.ts';
import { insertJobs } from '../../../server/work/jobs/intake/store.ts';
import type { JobInsert } from '../../../server/work/jobs/intake/store.ts';
import type { JobRecord } from '../../../server/work/jobs/types.ts';

/** Stores one job, as the intake of jobs does. */
export async function insertJob(db: DbOrTx, job: JobInsert): Promise<JobRecord> {
  const [record] = await insertJobs(db, [job]);
  return record!;
}
