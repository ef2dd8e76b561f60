import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { toFlag } from '../../platform/storage/columns.ts';
import { countUpTo } from '../../platform/storage/count-up-to.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import { madeWithKey } from '../../platform/storage/idempotency-key.ts';
import type { KeyInUse } from '../../platform/storage/idempotency-key.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { Schema } from '../../platform/storage/schema.ts';
import { noted } from './outbox/store.ts';
import { CANCEL_REQUESTED, FROM, ROWS_OF } from './state.ts';
import type { Status, StatusFilter } from './state.ts';
import type { JobRecord } from './types.ts';

export { isRouterThere } from '../../platform/storage/router-lock.ts';

/**
 * What callers do: create, read, take back. What agents do is in hand-over/store.ts. Every transition is one conditional
 * UPDATE .. RETURNING that raises `version` in the same statement; undefined means that its condition did not hold.
 * Its event is stored beside it (outbox/store.ts), so these run inside a write.
 */

type Where = ExpressionBuilder<Schema, 'jobs'>;

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

export async function insertJob(db: DbOrTx, job: JobInsert): Promise<JobRecord> {
  const inserted = await db
    .insertInto('jobs')
    .values({
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
      notify_url: job.notifyUrl,
      timeout_ms: job.timeoutMs,
      undo_seconds: job.undoSeconds ?? null,
      created_by: job.createdBy ?? null,
      created_via: job.createdVia ?? null,
      phase: 'queued',
      output_truncated: 0,
      created_at: job.now,
      expires_at: job.expiresAt,
      // The first event of a job is that it exists (`job.loaded`).
      version: 1,
      notified_version: 0,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await noted(db, inserted, job.now);
  return inserted;
}

/** The job that a key made on this router since a moment: what a repeated POST gets after a crash. */
export async function selectJobByKey(db: DbOrTx, key: KeyInUse & { routerId: string }): Promise<JobRecord | undefined> {
  return db.selectFrom('jobs').selectAll().where('router_id', '=', key.routerId).$call(madeWithKey(key)).executeTakeFirst();
}

export async function selectJob(db: DbOrTx, teamId: string, routerId: string, jobId: string): Promise<JobRecord | undefined> {
  return db
    .selectFrom('jobs')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('id', '=', jobId)
    .executeTakeFirst();
}

/** A job of the agent's team, whichever router it is for. */
export async function selectJobOfTeam(db: DbOrTx, teamId: string, jobId: string): Promise<JobRecord | undefined> {
  return db.selectFrom('jobs').selectAll().where('team_id', '=', teamId).where('id', '=', jobId).executeTakeFirst();
}

/** Jobs of a team that have not ended, counted no further than `most`. */
export async function countOpenJobs(db: DbOrTx, teamId: string, most: number): Promise<number> {
  // In the words of the index `jobs_open_by_creator`: with bound values it could not be used.
  const open = sql<SqlBool>`phase in ('queued', 'accepted', 'running')`;
  return countUpTo(db, db.selectFrom('jobs').select('created_by').where('team_id', '=', teamId).where(open), most);
}

/** Newest first. */
export async function selectJobs(
  db: DbOrTx,
  query: { teamId: string; routerId: string; statuses: readonly Status[]; page: Page },
): Promise<JobRecord[]> {
  let jobs = db.selectFrom('jobs').selectAll().where('team_id', '=', query.teamId).where('router_id', '=', query.routerId);
  if (query.statuses.length > 0) {
    const filters = query.statuses.flatMap((status) => ROWS_OF[status]);
    jobs = jobs.where((eb) => eb.or(filters.map((filter) => matches(eb, filter))));
  }
  return jobs.$call(newestFirst(query.page)).execute();
}

function matches(eb: Where, filter: StatusFilter): Expression<SqlBool> {
  const conditions: Expression<SqlBool>[] = [eb('phase', 'in', filter.phases), eb('deleted_at', filter.deleted ? 'is not' : 'is', null)];
  if (filter.completed !== undefined) conditions.push(eb('completed_at', filter.completed ? 'is not' : 'is', null));
  if (filter.failed !== undefined) conditions.push(eb('failed_at', filter.failed ? 'is not' : 'is', null));
  return eb.and(conditions);
}

interface CallersJob {
  teamId: string;
  jobId: string;
  now: number;
}

/** Takes back a job that no agent has been allowed to run. */
export async function cancelQueued(db: DbOrTx, { teamId, jobId, now }: CallersJob): Promise<JobRecord | undefined> {
  const job = await db
    .updateTable('jobs')
    .set((eb) => ({ phase: 'canceled', deleted_at: now, version: eb('version', '+', 1) }))
    .where('id', '=', jobId)
    .where('team_id', '=', teamId)
    .where('phase', 'in', FROM.cancel)
    .returningAll()
    .executeTakeFirst();
  return noted(db, job, now);
}

/** Remembers that the caller wants an accepted job back, until its agent says refused or began. No transition yet. */
export async function requestCancel(db: DbOrTx, { teamId, jobId }: CallersJob): Promise<JobRecord | undefined> {
  return db
    .updateTable('jobs')
    .set({ reason: CANCEL_REQUESTED })
    .where('id', '=', jobId)
    .where('team_id', '=', teamId)
    .where('phase', '=', 'accepted')
    .returningAll()
    .executeTakeFirst();
}

/** Marks a finished job as deleted; its record stays. */
export async function deleteFinished(db: DbOrTx, { teamId, jobId, now }: CallersJob): Promise<JobRecord | undefined> {
  const job = await db
    .updateTable('jobs')
    .set((eb) => ({ deleted_at: now, version: eb('version', '+', 1) }))
    .where('id', '=', jobId)
    .where('team_id', '=', teamId)
    .where('phase', 'in', ['done', 'expired', 'unknown'])
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return noted(db, job, now);
}
