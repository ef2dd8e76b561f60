import { type Insertable, sql } from 'kysely';
import { inChunks, toFlag } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { padded } from '../../../platform/storage/padded.ts';
import type { JobsTable } from '../../../platform/storage/schema-jobs.ts';
import { insertFirstEvents } from '../outbox/store.ts';
import type { JobRecord } from '../types.ts';

export { holdRouters } from '../../../platform/storage/router-lock.ts';
export { concernsAll } from '../../../platform/storage/storage-errors.ts';

/** Rows of one statement: with more of them the statement itself costs more than the saved round trip. */
const ROWS_AT_ONCE = 32;

export interface JobInsert {
  id: string;
  teamId: string;
  routerId: string;
  siteId: string | null;
  token: string;
  requestId: string;
  idempotencyKey: string;
  description: string;
  script: string;
  expressExecute: boolean;
  needsAcknowledgement: boolean;
  makeBackup: boolean;
  notifyUrl: string | null;
  timeoutMs: number;
  undoSeconds?: number | null;
  createdBy?: string | null;
  createdVia?: string | null;
  now: number;
  expiresAt: number;
}

/** Of a job whose script has not begun. */
const NOTHING_YET = {
  reason: null,
  error: null,
  output: null,
  agent_id: null,
  epoch: null,
  accepted_at: null,
  started_at: null,
  overdue_at: null,
  completed_at: null,
  failed_at: null,
  deleted_at: null,
  transitions: null,
  guard_state: null,
  guard_armed_at: null,
  guard_fires_at: null,
  backup_id: null,
} as const;

/** Stores new jobs, and the events of those that tell a receiver. Inside a write. @returns them in the same order */
export async function insertJobs(db: DbOrTx, jobs: readonly JobInsert[]): Promise<JobRecord[]> {
  const rows = jobs.map(toRow);
  for (const chunk of inChunks(rows, ROWS_AT_ONCE)) await db.insertInto('jobs').values(chunk).execute();
  const records = rows.map((row) => ({ ...row, ...NOTHING_YET }));
  await insertFirstEvents(db, records);
  return records;
}

function toRow(job: JobInsert) {
  return {
    id: job.id,
    team_id: job.teamId,
    router_id: job.routerId,
    site_id: job.siteId,
    token: job.token,
    request_id: job.requestId,
    idempotency_key: job.idempotencyKey,
    description: job.description,
    script: job.script,
    express_execute: toFlag(job.expressExecute),
    needs_acknowledgement: toFlag(job.needsAcknowledgement),
    make_backup: toFlag(job.makeBackup),
    backup_to_record: toFlag(job.makeBackup),
    notify_url: job.notifyUrl,
    timeout_ms: job.timeoutMs,
    undo_seconds: job.undoSeconds ?? null,
    created_by: job.createdBy ?? null,
    created_via: job.createdVia ?? null,
    phase: 'queued',
    output_truncated: 0,
    created_at: job.now,
    expires_at: job.expiresAt,
    // Version 1 is the creation: the event `job.loaded`, which is stored with it.
    version: 1,
    notified_version: job.notifyUrl === null ? 0 : 1,
  } satisfies Insertable<JobsTable>;
}

/** A key that a caller chose, and since when its job counts. */
export interface CallersKey {
  teamId: string;
  routerId: string;
  idempotencyKey: string;
  since: number;
}

/** The latest job that each key has created on its router: what a repeated POST gets after a crash. In the order of the keys. */
export async function selectJobsByKeys(db: DbOrTx, keys: readonly CallersKey[]): Promise<(JobRecord | undefined)[]> {
  if (keys.length === 0) return [];
  const wanted = padded(keys).map(
    (key) => sql`(cast(${key.teamId} as text), cast(${key.routerId} as text), cast(${key.idempotencyKey} as text))`,
  );
  // SQLite reads the tables of a cross join in this order. `<>` stands as in the condition of the index `jobs_by_key`, which has no jobs without a key.
  const { rows } = await sql<JobRecord>`
    select jobs.* from (values ${sql.join(wanted)}) as wanted
    cross join jobs
    where jobs.team_id = wanted.column1 and jobs.router_id = wanted.column2 and jobs.idempotency_key = wanted.column3
      and jobs.idempotency_key <> jobs.request_id`.execute(db);
  return keys.map(({ teamId, routerId, idempotencyKey, since }) =>
    rows
      .filter(
        (job) => job.team_id === teamId && job.router_id === routerId && job.idempotency_key === idempotencyKey && job.created_at >= since,
      )
      .reduce<JobRecord | undefined>((latest, job) => (latest && latest.created_at >= job.created_at ? latest : job), undefined),
  );
}
