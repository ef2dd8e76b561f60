import type { JobResult } from '../../../protocol/index.ts';
import type { DbOrTx } from '../../../server/platform/storage/db.ts';
import { storeReports } from '../../../server/work/jobs/hand-over/store.ts';
import type { Report, Reporter } from '../../../server/work/jobs/hand-over/store.ts';
import type { JobRecord } from '../../../server/work/jobs/types.ts';

/** What an agent reports of one job, stored as the hand-over does. */

interface Change {
  jobId: string;
  now: number;
}

async function store(db: DbOrTx, report: Report, now: number): Promise<JobRecord | undefined> {
  const [job] = await storeReports(db, [report], now);
  return job;
}

export function acceptJob(db: DbOrTx, reporter: Reporter, { now, ...change }: Change & { graceMs: number; backupMs: number }) {
  return store(db, { kind: 'accept', reporter, ...change }, now);
}

export function beginJob(db: DbOrTx, reporter: Reporter, { now, ...change }: Change & { graceMs: number }) {
  return store(db, { kind: 'begin', reporter, ...change }, now);
}

export function endJob(db: DbOrTx, reporter: Reporter, { now, ...change }: Change & { result: JobResult }) {
  return store(db, { kind: 'end', reporter, ...change }, now);
}

export function refuseJob(db: DbOrTx, reporter: Reporter, { now, ...change }: Change) {
  return store(db, { kind: 'refuse', reporter, ...change }, now);
}
