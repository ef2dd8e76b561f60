import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { countUpTo } from '../../platform/storage/count-up-to.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { Schema } from '../../platform/storage/schema.ts';
import { insertJobEvent } from './outbox/store.ts';
import type { NotedBy } from './timeline/notes.ts';
import { noted } from './timeline/store.ts';
import { CANCEL_REQUESTED, FROM, ROWS_OF } from './state.ts';
import type { Status, StatusFilter } from './state.ts';
import type { JobRecord } from './types.ts';

/**
 * What callers do: read, cancel. How they create jobs is in intake/store.ts, what agents do in hand-over/store.ts. Every transition is one conditional
 * UPDATE .. RETURNING that also raises `version`; undefined means that its condition did not hold. It stores its event in
 * the same transaction (outbox/store.ts): call these inside a write.
 */

type Where = ExpressionBuilder<Schema, 'jobs'>;

export async function selectJob(db: DbOrTx, teamId: string, routerId: string, jobId: string): Promise<JobRecord | undefined> {
  return db
    .selectFrom('jobs')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('id', '=', jobId)
    .executeTakeFirst();
}

/** A job of the team, of any router. */
export async function selectJobOfTeam(db: DbOrTx, teamId: string, jobId: string): Promise<JobRecord | undefined> {
  return db.selectFrom('jobs').selectAll().where('team_id', '=', teamId).where('id', '=', jobId).executeTakeFirst();
}

/** Number of jobs of a team that have not ended, at most `most`. */
export async function countOpenJobs(db: DbOrTx, teamId: string, most: number): Promise<number> {
  // The same text as the condition of the index `jobs_open_by_creator`: with bound values the index would not be used.
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

const ITSELF: NotedBy = { type: 'control_plane' };

interface CallersJob {
  teamId: string;
  jobId: string;
  now: number;
  /** Who asks for it; the control plane by itself when missing. */
  by?: NotedBy | undefined;
}

/** Cancels a job that no agent has accepted. */
export async function cancelQueued(db: DbOrTx, { teamId, jobId, now, by = ITSELF }: CallersJob): Promise<JobRecord | undefined> {
  const transitions = noted({ kind: 'canceled', at: now, phase: 'canceled', epoch: null, by, reason: null });
  const job = await db
    .updateTable('jobs')
    .set((eb) => ({ phase: 'canceled', deleted_at: now, transitions, version: eb('version', '+', 1) }))
    .where('id', '=', jobId)
    .where('team_id', '=', teamId)
    .where('phase', 'in', FROM.cancel)
    .returningAll()
    .executeTakeFirst();
  return insertJobEvent(db, job, now);
}

/** Records that the caller wants to cancel an accepted job. Its agent answers refused or begun; this is no transition yet. */
export async function requestCancel(db: DbOrTx, { teamId, jobId, now, by = ITSELF }: CallersJob): Promise<JobRecord | undefined> {
  const asked = noted({ kind: 'cancel_requested', at: now, phase: null, epoch: null, by, reason: null });
  return (
    db
      .updateTable('jobs')
      // Whoever asks again adds nothing.
      .set({
        reason: CANCEL_REQUESTED,
        transitions: sql<string | null>`case when coalesce(reason, '') = ${sql.lit(CANCEL_REQUESTED)} then transitions else ${asked} end`,
      })
      .where('id', '=', jobId)
      .where('team_id', '=', teamId)
      .where('phase', '=', 'accepted')
      .returningAll()
      .executeTakeFirst()
  );
}

/** Marks a finished job as deleted. Its row stays. */
export async function deleteFinished(db: DbOrTx, { teamId, jobId, now, by = ITSELF }: CallersJob): Promise<JobRecord | undefined> {
  const transitions = noted({ kind: 'deleted', at: now, phase: null, epoch: null, by, reason: null });
  const job = await db
    .updateTable('jobs')
    .set((eb) => ({ deleted_at: now, transitions, version: eb('version', '+', 1) }))
    .where('id', '=', jobId)
    .where('team_id', '=', teamId)
    .where('phase', 'in', ['done', 'expired', 'unknown'])
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return insertJobEvent(db, job, now);
}
