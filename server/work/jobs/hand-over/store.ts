import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { JobResult } from '../../../../protocol/index.ts';
import { storableText, toFlag } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { Schema } from '../../../platform/storage/schema.ts';
import { allNoted, noted } from '../outbox/store.ts';
import { CANCEL_REQUESTED, FROM, HELD, phaseOfResult } from '../state.ts';
import type { JobRecord } from '../types.ts';

/**
 * What agents and the sweeper do to jobs. Every transition is one conditional UPDATE .. RETURNING that raises `version`
 * in the same statement, and stores its event beside it (outbox/store.ts), so these run inside a write. A function
 * returns the changed row, or undefined when its condition did not hold: then nothing was changed.
 */

/** The agent and the tunnel on whose word something is changed. */
export interface Speaker {
  teamId: string;
  agentId: string;
  epoch: number;
}

type Where = ExpressionBuilder<Schema, 'jobs'>;

/** True while nothing newer than the speaker's tunnel has said hello: without it no conclusion may be drawn. */
function isNewest(eb: Where, speaker: Speaker): Expression<SqlBool> {
  return eb.exists(
    eb
      .selectFrom('agents')
      .select('agents.id')
      .where('agents.id', '=', speaker.agentId)
      .where('agents.team_id', '=', speaker.teamId)
      .where('agents.epoch', '=', speaker.epoch),
  );
}

/** The router hangs on the speaker now. */
function isItsRouter(eb: Where, speaker: Speaker): Expression<SqlBool> {
  return eb(
    'router_id',
    'in',
    eb
      .selectFrom('routers')
      .select('routers.id')
      .where('routers.team_id', '=', speaker.teamId)
      .where('routers.agent_id', '=', speaker.agentId),
  );
}

/** The speaker holds the job, or, if nobody does, its router. */
function isItsJob(eb: Where, speaker: Speaker): Expression<SqlBool> {
  return eb.or([eb('agent_id', '=', speaker.agentId), eb.and([eb('agent_id', 'is', null), isItsRouter(eb, speaker)])]);
}

/** A guarded router may stay away until it has undone the script. */
const UNDO_MS = sql.raw('coalesce(undo_seconds, 0) * 1000');

const raised = sql<number>`version + 1`;

/** A bound moment where the engine cannot tell a parameter's type by itself; a literal would be a new text each time. */
function at(millis: number) {
  return sql<number>`cast(${millis} as bigint)`;
}

/** The only place where permission to run is given; whether the job has expired is asked in the same statement. */
export async function acceptJob(
  db: DbOrTx,
  speaker: Speaker,
  change: { jobId: string; now: number; graceMs: number; backupMs: number },
): Promise<JobRecord | undefined> {
  const { now } = change;
  const job = await db
    .updateTable('jobs')
    .set({
      phase: 'accepted',
      reason: null,
      agent_id: speaker.agentId,
      epoch: speaker.epoch,
      accepted_at: now,
      overdue_at: sql<number>`timeout_ms + ${UNDO_MS} + make_backup * ${at(change.backupMs)} + ${at(now + change.graceMs)}`,
      completed_at: sql<number | null>`case when needs_acknowledgement = 0 then ${at(now)} end`,
      version: raised,
    })
    .where('id', '=', change.jobId)
    .where('team_id', '=', speaker.teamId)
    .where('phase', 'in', FROM.accept)
    .where('expires_at', '>', now)
    .where((eb) => isItsRouter(eb, speaker))
    .where((eb) => isNewest(eb, speaker))
    .returningAll()
    .executeTakeFirst();
  return noted(db, job, now);
}

/** A fact: believed from any tunnel of the agent that has the job. */
export async function beginJob(
  db: DbOrTx,
  speaker: Speaker,
  change: { jobId: string; now: number; graceMs: number },
): Promise<JobRecord | undefined> {
  const job = await db
    .updateTable('jobs')
    .set({
      phase: 'running',
      reason: null,
      agent_id: speaker.agentId,
      epoch: sql<number>`coalesce(epoch, ${at(speaker.epoch)})`,
      started_at: change.now,
      overdue_at: sql<number>`timeout_ms + ${UNDO_MS} + ${at(change.now + change.graceMs)}`,
      version: raised,
    })
    .where('id', '=', change.jobId)
    .where('team_id', '=', speaker.teamId)
    .where('phase', 'in', FROM.begin)
    .where((eb) => isItsJob(eb, speaker))
    .returningAll()
    .executeTakeFirst();
  return noted(db, job, change.now);
}

/** A fact: believed from any tunnel of the agent that has the job, and at any time; the first one counts. */
export async function endJob(
  db: DbOrTx,
  speaker: Speaker,
  change: { jobId: string; result: JobResult; now: number },
): Promise<JobRecord | undefined> {
  const { result, now } = change;
  const job = await db
    .updateTable('jobs')
    .set({
      phase: phaseOfResult(result),
      reason: result.reason,
      error: result.error === null ? null : storableText(result.error),
      output: result.output === null ? null : storableText(result.output),
      output_truncated: toFlag(result.output_truncated),
      agent_id: speaker.agentId,
      overdue_at: null,
      ...endTimes(result, now),
      // A job that was called back and ran all the same must not be shown as one that never did.
      deleted_at: sql<number | null>`case when phase = 'canceled' then null else deleted_at end`,
      version: raised,
    })
    .where('id', '=', change.jobId)
    .where('team_id', '=', speaker.teamId)
    .where('phase', 'in', FROM.end)
    .where((eb) => isItsJob(eb, speaker))
    // The agent repeats its word until it is acknowledged: only the first time is news.
    .where((eb) =>
      result.outcome === 'unknown'
        ? eb.or([eb('phase', '<>', 'unknown'), eb('reason', 'is', null), eb('reason', '<>', result.reason ?? '')])
        : eb.lit(true),
    )
    .returningAll()
    .executeTakeFirst();
  return noted(db, job, now);
}

/** completed_at of a job without acknowledgement was set at the receipt, and is its public truth. */
function endTimes(result: JobResult, now: number) {
  if (result.outcome === 'completed') {
    return {
      started_at: sql<number>`coalesce(started_at, ${at(now)})`,
      completed_at: sql<number>`coalesce(completed_at, ${at(now)})`,
      failed_at: null,
    };
  }
  return { failed_at: sql<number | null>`case when completed_at is null then coalesce(failed_at, ${at(now)}) end` };
}

/**
 * The agent has not begun the job and never will. Asked for by the API, it is canceled; otherwise it is a failed job
 * that certainly never ran.
 */
export async function refuseJob(db: DbOrTx, speaker: Speaker, change: { jobId: string; now: number }): Promise<JobRecord | undefined> {
  const asked = sql`coalesce(reason, '') = ${sql.lit(CANCEL_REQUESTED)}`;
  const job = await db
    .updateTable('jobs')
    .set({
      phase: sql<string>`case when ${asked} then 'canceled' else 'done' end`,
      reason: sql<string | null>`case when ${asked} then null else 'rejected' end`,
      error: sql<string | null>`case when ${asked} then null else 'the agent gave the job back; it never ran' end`,
      overdue_at: null,
      completed_at: null,
      failed_at: sql<number | null>`case when ${asked} then null else coalesce(failed_at, ${at(change.now)}) end`,
      deleted_at: sql<number | null>`case when ${asked} then ${at(change.now)} else deleted_at end`,
      version: raised,
    })
    .where('id', '=', change.jobId)
    .where('team_id', '=', speaker.teamId)
    .where('phase', 'in', FROM.refuse)
    .where('agent_id', '=', speaker.agentId)
    .returningAll()
    .executeTakeFirst();
  return noted(db, job, change.now);
}

/** Ids of what the agent was given on earlier tunnels and has not finished. */
export async function selectHeldBefore(db: DbOrTx, speaker: Speaker): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('id')
    .where('team_id', '=', speaker.teamId)
    .where('agent_id', '=', speaker.agentId)
    .where('phase', 'in', HELD)
    .where('epoch', '<', speaker.epoch)
    .execute();
  return rows.map((row) => row.id);
}

/** The agent's list did not name these jobs (at most 500): they may have run. Valid only while its tunnel is the newest. */
export async function forgetJobs(db: DbOrTx, speaker: Speaker, jobIds: readonly string[], now: number): Promise<JobRecord[]> {
  const jobs = await giveUp(db, 'agent_forgot', now)
    .where('id', 'in', jobIds)
    .where('team_id', '=', speaker.teamId)
    .where('agent_id', '=', speaker.agentId)
    .where('epoch', '<=', speaker.epoch)
    .where((eb) => isNewest(eb, speaker))
    .returningAll()
    .execute();
  return allNoted(db, jobs, now);
}

function giveUp(db: DbOrTx, reason: string, now: number) {
  return db
    .updateTable('jobs')
    .set({
      phase: 'unknown',
      reason,
      overdue_at: null,
      failed_at: sql<number | null>`case when completed_at is null then ${at(now)} end`,
      version: raised,
    })
    .where('phase', 'in', FROM.give_up);
}

/** Gives up waiting for the result of jobs (at most `limit`) of all teams whose agent has been silent too long. */
export async function giveUpOverdue(db: DbOrTx, now: number, limit: number): Promise<JobRecord[]> {
  const jobs = await giveUp(db, 'timed_out', now)
    .where('overdue_at', '<=', now)
    .where((eb) => eb('id', 'in', eb.selectFrom('jobs as due').select('due.id').where('due.overdue_at', '<=', now).limit(limit)))
    .returningAll()
    .execute();
  return allNoted(db, jobs, now);
}

/** Expires queued jobs (at most `limit`) of all teams: they certainly never ran. */
export async function expireJobs(db: DbOrTx, now: number, limit: number): Promise<JobRecord[]> {
  const jobs = await db
    .updateTable('jobs')
    .set({ phase: 'expired', failed_at: now, version: raised })
    .where('phase', 'in', FROM.expire)
    .where('expires_at', '<=', now)
    .where((eb) =>
      eb(
        'id',
        'in',
        eb
          .selectFrom('jobs as late')
          .select('late.id')
          .where('late.phase', 'in', FROM.expire)
          .where('late.expires_at', '<=', now)
          .limit(limit),
      ),
    )
    .returningAll()
    .execute();
  return allNoted(db, jobs, now);
}
