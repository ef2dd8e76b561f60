import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { idFloor } from '../../../platform/core/ids.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { Schema } from '../../../platform/storage/schema.ts';
import { PHASES, isFinished } from '../state.ts';

const FINISHED = PHASES.filter(isFinished);

type Where = ExpressionBuilder<Schema, 'jobs'>;

/** Jobs (at most `limit`, of all teams) created before a time, with ids after `after`, in the order of their ids. */
export async function selectJobsBefore(db: DbOrTx, query: { before: number; after: string; limit: number }): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('id')
    .where('id', '>', query.after)
    .where('id', '<', idFloor(query.before))
    .orderBy('id')
    .limit(query.limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Output sizes of jobs of all teams (0 for none), newest first, with ids below `before`. */
export async function selectOutputSizes(
  db: DbOrTx,
  before: string | undefined,
  limit: number,
): Promise<{ id: string; teamId: string; bytes: number }[]> {
  let query = db.selectFrom('jobs').select(['id', 'team_id as teamId', sql<number | string | null>`octet_length(output)`.as('bytes')]);
  if (before !== undefined) query = query.where('id', '<', before);
  const rows = await query.orderBy('id', 'desc').limit(limit).execute();
  return rows.map(({ id, teamId, bytes }) => ({ id, teamId, bytes: Number(bytes ?? 0) }));
}

/** Deletes the outputs of these jobs (at most 500) and marks them as truncated. Call it inside a write. */
export async function forgetOutputs(db: DbOrTx, jobIds: readonly string[]): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ output: null, output_truncated: 1 })
    .where('id', 'in', jobIds)
    .where('output', 'is not', null)
    .execute();
}

/**
 * Deletes those of the jobs (at most 500) that ended before `before`, with their events and attempts. Keeps a job that has
 * undelivered events, a kept backup or an open campaign. The campaign keeps the router's result; only its link to the job
 * is removed. Call it inside a write.
 */
export async function deleteEndedJobs(db: DbOrTx, jobIds: readonly string[], before: number): Promise<void> {
  const ids = await selectForgettable(db, jobIds, before);
  if (ids.length === 0) return;
  await db.updateTable('campaign_targets').set({ job_id: null }).where('job_id', 'in', ids).execute();
  await db.deleteFrom('jobs').where('id', 'in', ids).execute();
}

async function selectForgettable(db: DbOrTx, jobIds: readonly string[], before: number): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('id')
    .where('id', 'in', jobIds)
    .where('phase', 'in', FINISHED)
    .where((eb) => eb.and((['completed_at', 'failed_at', 'deleted_at'] as const).map((at) => isNotSince(eb, at, before))))
    .where((eb) => eb.or([eb('notify_url', 'is', null), eb('notified_version', '>=', eb.ref('version'))]))
    .where((eb) => eb.not(eb.exists(unsentEvent(eb))))
    .where((eb) => eb.not(eb.exists(eb.selectFrom('backups').select('backups.id').whereRef('backups.job_id', '=', 'jobs.id'))))
    .where((eb) => eb.not(eb.exists(openCampaign(eb))))
    .execute();
  return rows.map(({ id }) => id);
}

function isNotSince(eb: Where, column: 'completed_at' | 'failed_at' | 'deleted_at', before: number): Expression<SqlBool> {
  return eb.or([eb(column, 'is', null), eb(column, '<', before)]);
}

/** `due_at` is set exactly while the event is undelivered. */
function unsentEvent(eb: Where) {
  return eb
    .selectFrom('job_events')
    .select('job_events.id')
    .whereRef('job_events.job_id', '=', 'jobs.id')
    .where('job_events.due_at', 'is not', null);
}

function openCampaign(eb: Where) {
  return eb
    .selectFrom('campaign_targets')
    .innerJoin('campaigns', 'campaigns.id', 'campaign_targets.campaign_id')
    .select('campaigns.id')
    .whereRef('campaign_targets.job_id', '=', 'jobs.id')
    .where('campaigns.finished_at', 'is', null);
}
