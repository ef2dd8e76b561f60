import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { JobResult } from '../../../../protocol/index.ts';
import { storableText, toFlag } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { Schema } from '../../../platform/storage/schema.ts';
import { padded } from '../../../platform/storage/padded.ts';
import { insertJobEvents } from '../outbox/store.ts';
import type { Note } from '../timeline/notes.ts';
import { noted } from '../timeline/store.ts';
import { CANCEL_REQUESTED, FROM, HELD, phaseOfResult } from '../state.ts';
import type { JobRecord } from '../types.ts';

export { concernsAll } from '../../../platform/storage/storage-errors.ts';

/**
 * Transitions made by agents and by `JobDeadlines`. Each is one conditional UPDATE .. RETURNING that also raises `version`, and
 * its event is stored in the same transaction (outbox/store.ts): call these inside a write. A function returns the changed
 * row, or undefined when its condition did not hold and nothing was changed.
 */

/** What an agent says of one job. */
export type Report = { reporter: Reporter; jobId: string } & (
  | { kind: 'accept'; graceMs: number; backupMs: number }
  | { kind: 'begin'; graceMs: number }
  | { kind: 'end'; result: JobResult }
  | { kind: 'refuse' }
);

/**
 * The transitions that agents report, each of another job, and their events. @returns the changed rows in the order of the reports; undefined for
 * those whose condition did not hold
 */
export async function storeReports(db: DbOrTx, reports: readonly Report[], now: number): Promise<(JobRecord | undefined)[]> {
  const changed: (JobRecord | undefined)[] = [];
  for (const report of reports) changed.push(await storeReport(db, report, now));
  await insertJobEvents(
    db,
    changed.filter((job) => job !== undefined),
    now,
  );
  return changed;
}

function storeReport(db: DbOrTx, report: Report, now: number): Promise<JobRecord | undefined> {
  const { reporter } = report;
  switch (report.kind) {
    case 'accept':
      return acceptJob(db, reporter, { ...report, now });
    case 'begin':
      return beginJob(db, reporter, { ...report, now });
    case 'end':
      return endJob(db, reporter, { ...report, now });
    case 'refuse':
      return refuseJob(db, reporter, { ...report, now });
  }
}

/** The agent that reports, and its tunnel. */
export interface Reporter {
  teamId: string;
  agentId: string;
  epoch: number;
}

type Where = ExpressionBuilder<Schema, 'jobs'>;

/** The reporter's tunnel is the agent's newest. Nothing may be concluded from an older one. */
function isNewest(eb: Where, reporter: Reporter): Expression<SqlBool> {
  return eb.exists(
    eb
      .selectFrom('agents')
      .select('agents.id')
      .where('agents.id', '=', reporter.agentId)
      .where('agents.team_id', '=', reporter.teamId)
      .where('agents.epoch', '=', reporter.epoch),
  );
}

/** The job's router is assigned to the reporting agent now. */
function isItsRouter(eb: Where, reporter: Reporter): Expression<SqlBool> {
  return eb.exists(
    eb
      .selectFrom('routers')
      .select('routers.id')
      .whereRef('routers.id', '=', 'jobs.router_id')
      .where('routers.team_id', '=', reporter.teamId)
      .where('routers.agent_id', '=', reporter.agentId),
  );
}

/** The reporting agent holds the job; or no agent holds it and the job's router is assigned to the reporting agent. */
function isItsJob(eb: Where, reporter: Reporter): Expression<SqlBool> {
  return eb.or([eb('agent_id', '=', reporter.agentId), eb.and([eb('agent_id', 'is', null), isItsRouter(eb, reporter)])]);
}

/** A router with the undo guard may be offline until it has undone the script. */
const UNDO_MS = sql.raw('coalesce(undo_seconds, 0) * 1000');

const raised = sql<number>`version + 1`;

/** A transition that this agent reports. */
function byAgent({ epoch }: Reporter, note: Pick<Note, 'kind' | 'at' | 'phase'> & { reason?: string | null }): Note {
  return { reason: null, ...note, epoch, by: { type: 'agent' } };
}

/** A transition of the control plane's own. */
function byItself(note: Pick<Note, 'kind' | 'at' | 'phase'> & { reason?: string | null }): Note {
  return { reason: null, ...note, epoch: null, by: { type: 'control_plane' } };
}

/** A bound time where the database cannot infer the parameter's type. A literal would make a new statement text each time. */
function at(millis: number) {
  return sql<number>`cast(${millis} as bigint)`;
}

/** The only place that gives permission to run. The same statement checks that the job has not expired. */
async function acceptJob(
  db: DbOrTx,
  reporter: Reporter,
  change: { jobId: string; now: number; graceMs: number; backupMs: number },
): Promise<JobRecord | undefined> {
  const { now } = change;
  return db
    .updateTable('jobs')
    .set({
      phase: 'accepted',
      reason: null,
      agent_id: reporter.agentId,
      epoch: reporter.epoch,
      accepted_at: now,
      overdue_at: sql<number>`timeout_ms + ${UNDO_MS} + make_backup * ${at(change.backupMs)} + ${at(now + change.graceMs)}`,
      completed_at: sql<number | null>`case when needs_acknowledgement = 0 then ${at(now)} end`,
      transitions: noted(byAgent(reporter, { kind: 'accepted', at: now, phase: 'accepted' })),
      version: raised,
    })
    .where('id', '=', change.jobId)
    .where('team_id', '=', reporter.teamId)
    .where('phase', 'in', FROM.accept)
    .where('expires_at', '>', now)
    .where((eb) => isItsRouter(eb, reporter))
    .where((eb) => isNewest(eb, reporter))
    .returningAll()
    .executeTakeFirst();
}

/** A fact: believed from any tunnel of the agent that holds the job. */
async function beginJob(
  db: DbOrTx,
  reporter: Reporter,
  change: { jobId: string; now: number; graceMs: number },
): Promise<JobRecord | undefined> {
  return db
    .updateTable('jobs')
    .set({
      phase: 'running',
      reason: null,
      agent_id: reporter.agentId,
      epoch: sql<number>`coalesce(epoch, ${at(reporter.epoch)})`,
      started_at: change.now,
      overdue_at: sql<number>`timeout_ms + ${UNDO_MS} + ${at(change.now + change.graceMs)}`,
      transitions: noted(byAgent(reporter, { kind: 'began', at: change.now, phase: 'running' })),
      version: raised,
    })
    .where('id', '=', change.jobId)
    .where('team_id', '=', reporter.teamId)
    .where('phase', 'in', FROM.begin)
    .where((eb) => isItsJob(eb, reporter))
    .returningAll()
    .executeTakeFirst();
}

/** A fact: believed from any tunnel of the agent that holds the job, at any time. The first result counts. */
async function endJob(
  db: DbOrTx,
  reporter: Reporter,
  change: { jobId: string; result: JobResult; now: number },
): Promise<JobRecord | undefined> {
  const { result, now } = change;
  return (
    db
      .updateTable('jobs')
      .set({
        phase: phaseOfResult(result),
        reason: result.reason,
        error: result.error === null ? null : storableText(result.error),
        output: result.output === null ? null : storableText(result.output),
        output_truncated: toFlag(result.output_truncated),
        agent_id: reporter.agentId,
        overdue_at: null,
        ...endTimes(result, now),
        // A job that was canceled but ran all the same must not be shown as one that never ran.
        deleted_at: sql<number | null>`case when phase = 'canceled' then null else deleted_at end`,
        transitions: noted(byAgent(reporter, { kind: 'ended', at: now, phase: phaseOfResult(result), reason: result.reason })),
        ...guardAfter(result),
        version: raised,
      })
      .where('id', '=', change.jobId)
      .where('team_id', '=', reporter.teamId)
      .where('phase', 'in', FROM.end)
      .where((eb) => isItsJob(eb, reporter))
      // The agent repeats the result until it is acknowledged. Only the first report is a change.
      .where((eb) =>
        result.outcome === 'unknown'
          ? eb.or([eb('phase', '<>', 'unknown'), eb('reason', 'is', null), eb('reason', '<>', result.reason ?? '')])
          : eb.lit(true),
      )
      .returningAll()
      .executeTakeFirst()
  );
}

/** A guarded job ends when its guard can no longer fire: it was removed, or the router has undone the script. */
function guardAfter({ outcome, reason }: JobResult) {
  const state = reason === 'rolled_back' ? 'fired' : outcome === 'completed' ? 'disarmed' : undefined;
  if (state === undefined) return {};
  return { guard_state: sql<string | null>`case when undo_seconds is null then null else ${sql.lit(state)} end`, guard_fires_at: null };
}

/** A job without acknowledgement got its completed_at when the agent accepted it. That value stays. */
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
 * The agent has not begun the job and never will. If the API asked for that, the job is canceled. Otherwise it has failed
 * and certainly never ran.
 */
async function refuseJob(db: DbOrTx, reporter: Reporter, change: { jobId: string; now: number }): Promise<JobRecord | undefined> {
  const asked = sql`coalesce(reason, '') = ${sql.lit(CANCEL_REQUESTED)}`;
  return db
    .updateTable('jobs')
    .set({
      phase: sql<string>`case when ${asked} then 'canceled' else 'done' end`,
      reason: sql<string | null>`case when ${asked} then null else 'rejected' end`,
      error: sql<string | null>`case when ${asked} then null else 'the agent refused the job; it never ran' end`,
      overdue_at: null,
      completed_at: null,
      failed_at: sql<number | null>`case when ${asked} then null else coalesce(failed_at, ${at(change.now)}) end`,
      deleted_at: sql<number | null>`case when ${asked} then ${at(change.now)} else deleted_at end`,
      transitions: sql<string>`case when ${asked} then ${noted(byAgent(reporter, { kind: 'canceled', at: change.now, phase: 'canceled' }))}
        else ${noted(byAgent(reporter, { kind: 'refused', at: change.now, phase: 'done', reason: 'rejected' }))} end`,
      version: raised,
    })
    .where('id', '=', change.jobId)
    .where('team_id', '=', reporter.teamId)
    .where('phase', 'in', FROM.refuse)
    .where('agent_id', '=', reporter.agentId)
    .returningAll()
    .executeTakeFirst();
}

/** The undo guard of a job that the agent holds is armed, or was removed. Undefined when that is known already. */
export async function noteGuard(
  db: DbOrTx,
  reporter: Reporter,
  { jobId, state, firesInMs, now }: { jobId: string; state: 'armed' | 'disarmed'; firesInMs: number | null; now: number },
): Promise<JobRecord | undefined> {
  const note = byAgent(reporter, { kind: state === 'armed' ? 'guard_armed' : 'guard_disarmed', at: now, phase: null });
  const firesAt = state === 'disarmed' || firesInMs === null ? null : now + Math.round(firesInMs);
  return db
    .updateTable('jobs')
    .set({ guard_state: state, guard_fires_at: firesAt, transitions: noted(note), ...(state === 'armed' ? { guard_armed_at: now } : {}) })
    .where('id', '=', jobId)
    .where('team_id', '=', reporter.teamId)
    .where('agent_id', '=', reporter.agentId)
    .where('phase', 'in', HELD)
    .where('undo_seconds', 'is not', null)
    .where((eb) => eb.or([eb('guard_state', 'is', null), eb('guard_state', '<>', state)]))
    .returningAll()
    .executeTakeFirst();
}

/** Ids of jobs that agents accepted on earlier tunnels and have not finished, in the order of the reporters. */
export async function selectHeldBefore(db: DbOrTx, reporters: readonly Reporter[]): Promise<string[][]> {
  const rows = await db
    .selectFrom('jobs')
    .select(['id', 'team_id', 'agent_id', 'epoch'])
    .where('agent_id', 'in', padded([...new Set(reporters.map(({ agentId }) => agentId))]))
    .where('phase', 'in', HELD)
    .execute();
  const byAgent = Map.groupBy(rows, (row) => row.agent_id);
  return reporters.map(({ teamId, agentId, epoch }) =>
    (byAgent.get(agentId) ?? []).filter((row) => row.team_id === teamId && row.epoch !== null && row.epoch < epoch).map(({ id }) => id),
  );
}

/** The agent's list did not contain these jobs (at most 500): they may have run. Counts only from the agent's newest tunnel. */
export async function giveUpUnlisted(db: DbOrTx, reporter: Reporter, jobIds: readonly string[], now: number): Promise<JobRecord[]> {
  const jobs = await giveUp(db, 'agent_forgot', now)
    .where('id', 'in', jobIds)
    .where('team_id', '=', reporter.teamId)
    .where('agent_id', '=', reporter.agentId)
    .where('epoch', '<=', reporter.epoch)
    .where((eb) => isNewest(eb, reporter))
    .returningAll()
    .execute();
  return insertJobEvents(db, jobs, now);
}

function giveUp(db: DbOrTx, reason: string, now: number) {
  return (
    db
      .updateTable('jobs')
      .set({
        phase: 'unknown',
        reason,
        overdue_at: null,
        failed_at: sql<number | null>`case when completed_at is null then ${at(now)} end`,
        transitions: noted(byItself({ kind: 'gave_up', at: now, phase: 'unknown', reason })),
        version: raised,
      })
      // `|| ''` keeps SQLite from reading all jobs that run: which ones is said by their ids.
      .where(sql<SqlBool>`(phase || '') in (${sql.join(FROM.give_up)})`)
  );
}

/** Stops waiting for the results of overdue jobs (at most `limit`, of all teams): their agents were silent too long. */
export async function giveUpOverdue(db: DbOrTx, now: number, limit: number): Promise<JobRecord[]> {
  const jobs = await giveUp(db, 'timed_out', now)
    .where('overdue_at', '<=', now)
    .where((eb) => eb('id', 'in', eb.selectFrom('jobs as due').select('due.id').where('due.overdue_at', '<=', now).limit(limit)))
    .returningAll()
    .execute();
  return insertJobEvents(db, jobs, now);
}

/** Expires queued jobs (at most `limit`, of all teams). They certainly never ran. */
export async function expireJobs(db: DbOrTx, now: number, limit: number): Promise<JobRecord[]> {
  const jobs = await db
    .updateTable('jobs')
    .set({
      phase: 'expired',
      failed_at: now,
      transitions: noted(byItself({ kind: 'expired', at: now, phase: 'expired' })),
      version: raised,
    })
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
  return insertJobEvents(db, jobs, now);
}
