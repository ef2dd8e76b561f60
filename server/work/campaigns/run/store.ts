import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { JobRecord } from '../../jobs/types.ts';
import { toStoredCounts } from '../counts.ts';
import type { StatusCount } from '../counts.ts';
import type { CampaignRecord, Outcome, StopReason } from '../types.ts';

/**
 * Queries of the runner. Each transaction first locks the campaign by updating its row, then counts and decides: two processes take turns,
 * and each counts the claims of the other.
 */

/** Locks the campaign until the end of the transaction. Undefined when there is none. */
export async function holdCampaign(db: DbOrTx, id: string): Promise<CampaignRecord | undefined> {
  return db
    .updateTable('campaigns')
    .set((eb) => ({ state: eb.ref('state') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** A target whose job has ended, or whose result has changed. */
export type EndedTarget = Pick<JobRecord, 'phase' | 'completed_at' | 'failed_at' | 'version' | 'reason' | 'error' | 'output'> & {
  router_id: string;
};

/** In the same words as the index. */
const isCorrectable = sql<SqlBool>`targets.status in ('unknown', 'expired', 'deleted')`;
/** A job without acknowledgement has its final status when the agent has accepted it. */
const hasEnded = sql<SqlBool>`(jobs.phase in ('done', 'expired', 'canceled', 'unknown') or jobs.completed_at is not null)`;

function selectTargetsWithJobs(db: DbOrTx, id: string) {
  return db
    .selectFrom('campaign_targets as targets')
    .innerJoin('jobs', (join) => join.onRef('jobs.id', '=', 'targets.job_id').onRef('jobs.team_id', '=', 'targets.team_id'))
    .select(['targets.router_id', 'jobs.phase', 'jobs.completed_at', 'jobs.failed_at', 'jobs.version'])
    .select(['jobs.reason', 'jobs.error', 'jobs.output'])
    .where('targets.campaign_id', '=', id);
}

/** Targets of the campaign whose result is not recorded yet, at most `limit`. */
export async function selectEnded(db: DbOrTx, id: string, limit: number): Promise<EndedTarget[]> {
  return selectTargetsWithJobs(db, id).where('targets.status', '=', 'started').where(hasEnded).limit(limit).execute();
}

/** Targets whose job has a newer result than the recorded one, at most `limit`. */
export async function selectCorrected(db: DbOrTx, id: string, limit: number): Promise<EndedTarget[]> {
  return selectTargetsWithJobs(db, id)
    .where(isCorrectable)
    .whereRef('targets.job_version', '<>', 'jobs.version')
    .where(hasEnded)
    .limit(limit)
    .execute();
}

export interface TargetResult {
  status: Outcome;
  jobVersion: number;
  reason: string | null;
  outputHash: string;
}

/** Records the same result for several routers. */
export async function recordResults(
  db: DbOrTx,
  id: string,
  routerIds: readonly string[],
  { status, jobVersion, reason, outputHash }: TargetResult,
  now: number,
): Promise<void> {
  await db
    .updateTable('campaign_targets')
    .set({ status, job_version: jobVersion, reason, output_hash: outputHash, settled_at: now })
    .where('campaign_id', '=', id)
    .where('router_id', 'in', routerIds)
    .execute();
}

/** Records the result of a target for which no job can be made. */
export async function recordWithoutJob(
  db: DbOrTx,
  id: string,
  routerId: string,
  why: Pick<TargetResult, 'outputHash'> & { reason: string },
  now: number,
): Promise<void> {
  await db
    .updateTable('campaign_targets')
    .set({ status: 'failed', reason: why.reason, output_hash: why.outputHash, settled_at: now })
    .where('campaign_id', '=', id)
    .where('router_id', '=', routerId)
    .where('status', '=', 'claimed')
    .execute();
}

/** A router that was seen this recently counts as reachable: it may be between two check-ins. */
const SEEN_WITHIN_MS = 5 * 60_000;

/**
 * Claims up to `count` waiting routers. Among the non-canaries, reachable routers go first: an unreachable one would count towards
 * `most_at_once` until its job expires, while others could run.
 */
export async function claimTargets(
  db: DbOrTx,
  id: string,
  claim: { count: number; canaries: boolean; nextStartAt: number; now: number },
): Promise<void> {
  const { now } = claim;
  const isAway = sql<number>`case when presence.reachable = 1 and presence.last_seen_at >= ${now - SEEN_WITHIN_MS} then 0 else 1 end`;
  let waiting = db
    .selectFrom('campaign_targets as targets')
    .leftJoin('router_presence as presence', 'presence.router_id', 'targets.router_id')
    .select('targets.router_id')
    .where('targets.campaign_id', '=', id)
    .where('targets.status', '=', 'waiting')
    .where('targets.canary', '=', claim.canaries ? 1 : 0);
  if (!claim.canaries) waiting = waiting.orderBy(isAway);
  const chosen = await waiting.orderBy('targets.position').limit(claim.count).execute();
  const ids = chosen.map((row) => row.router_id);
  if (ids.length > 0) await setClaimed(db, id, ids, now);
  await db.updateTable('campaigns').set({ next_start_at: claim.nextStartAt }).where('id', '=', id).execute();
}

async function setClaimed(db: DbOrTx, id: string, routerIds: readonly string[], now: number): Promise<void> {
  await db
    .updateTable('campaign_targets')
    .set({ status: 'claimed', claimed_at: now })
    .where('campaign_id', '=', id)
    .where('router_id', 'in', routerIds)
    .where('status', '=', 'waiting')
    .execute();
}

/**
 * Links claimed targets to their jobs, in the transaction that creates the jobs: a campaign that was paused or ended meanwhile, also by
 * another process, gets no job, and after a crash a claim has no job.
 * @returns false when one of them may not be created
 */
export async function startTargets(db: DbOrTx, id: string, jobs: readonly Pick<JobRecord, 'id' | 'router_id'>[]): Promise<boolean> {
  if (jobs.length === 0) return true;
  const made = jobs.map((job) => sql`(cast(${job.router_id} as text), cast(${job.id} as text))`);
  const { rows } = await sql`
    update campaign_targets set status = 'started', job_id = made.column2 from (values ${sql.join(made)}) as made
    where campaign_targets.campaign_id = ${id} and campaign_targets.router_id = made.column1 and campaign_targets.status = 'claimed'
      and exists (select 1 from campaigns where campaigns.id = ${id} and campaigns.state = 'running')
    returning campaign_targets.router_id`.execute(db);
  return rows.length === jobs.length;
}

/** Claimed targets, at most `limit`. */
export async function selectClaimed(db: DbOrTx, id: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('campaign_targets')
    .select('router_id')
    .where('campaign_id', '=', id)
    .where('status', '=', 'claimed')
    .orderBy('position')
    .limit(limit)
    .execute();
  return rows.map((row) => row.router_id);
}

/** Releases the claims of a campaign that has ended. */
export async function releaseClaims(db: DbOrTx, id: string): Promise<void> {
  await db
    .updateTable('campaign_targets')
    .set({ status: 'waiting', claimed_at: null })
    .where('campaign_id', '=', id)
    .where('status', '=', 'claimed')
    .execute();
}

/** Jobs of the campaign that have not begun and whose cancellation was not requested yet. */
export async function selectJobsToCancel(db: DbOrTx, id: string): Promise<{ routerId: string; jobId: string }[]> {
  const rows = await db
    .selectFrom('campaign_targets as targets')
    .innerJoin('jobs', 'jobs.id', 'targets.job_id')
    .select(['targets.router_id as routerId', 'jobs.id as jobId'])
    .where('targets.campaign_id', '=', id)
    .where('targets.status', '=', 'started')
    .where(sql<SqlBool>`(jobs.phase = 'queued' or (jobs.phase = 'accepted' and jobs.reason is null))`)
    .orderBy('targets.position')
    .execute();
  return rows;
}

/** Records that the campaign has stopped itself. */
export async function stopCampaign(db: DbOrTx, id: string, why: { reason: StopReason; message: string }): Promise<CampaignRecord> {
  return db
    .updateTable('campaigns')
    .set({ state: 'stopped', stop_reason: why.reason, stop_message: why.message })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Records the end. A campaign that was not stopped or canceled is `finished`. */
export async function finishCampaign(db: DbOrTx, id: string, counts: readonly StatusCount[], now: number): Promise<CampaignRecord> {
  return db
    .updateTable('campaigns')
    .set({
      finished_at: now,
      final_counts: toStoredCounts(counts),
      state: sql<string>`case when state in ('stopped', 'canceled') then state else 'finished' end`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Corrects the counts of a finished campaign after a late result. */
export async function correctCounts(db: DbOrTx, id: string, counts: readonly StatusCount[]): Promise<void> {
  await db
    .updateTable('campaigns')
    .set({ final_counts: toStoredCounts(counts) })
    .where('id', '=', id)
    .execute();
}

/** All campaigns that are not over. */
export async function selectOpenCampaigns(db: DbOrTx): Promise<{ id: string; teamId: string }[]> {
  return db.selectFrom('campaigns').select(['id', 'team_id as teamId']).where('finished_at', 'is', null).orderBy('id').execute();
}

/** Campaigns whose jobs got another result while no process watched. */
export async function selectCampaignsToCorrect(db: DbOrTx): Promise<{ id: string; teamId: string }[]> {
  return db
    .selectFrom('campaign_targets as targets')
    .innerJoin('jobs', 'jobs.id', 'targets.job_id')
    .select(['targets.campaign_id as id', 'targets.team_id as teamId'])
    .distinct()
    .where(isCorrectable)
    .whereRef('targets.job_version', '<>', 'jobs.version')
    .execute();
}
