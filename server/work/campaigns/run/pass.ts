import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Log } from '../../../platform/core/log.ts';
import { statusOf } from '../../jobs/service.ts';
import type { BesideJobs, JobsService } from '../../jobs/service.ts';
import type { NewJob } from '../../jobs/types.ts';
import { insertNotices } from '../../../platform/notices/store.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import { jobKey } from '../job-key.ts';
import { campaignNotice } from '../notices.ts';
import { outputHash } from '../output-group.ts';
import { progressOf } from '../counts.ts';
import type { StatusCount } from '../counts.ts';
import { nextSteps } from '../steps.ts';
import type { Step } from '../steps.ts';
import { selectCounts } from '../store.ts';
import type { CampaignChange, CampaignRecord, Outcome } from '../types.ts';
import {
  claimTargets,
  correctCounts,
  finishCampaign,
  holdCampaign,
  releaseClaims,
  selectClaimed,
  selectCorrected,
  selectEnded,
  selectJobsToCancel,
  recordResults,
  recordWithoutJob,
  startTargets,
  stopCampaign,
} from './store.ts';
import type { EndedTarget, TargetResult } from './store.ts';

/** Results recorded in one transaction: each may have 64 kB of output. */
const RECORDED_AT_ONCE = 100;
/** Jobs created at the same time: one group commit, and few enough for a small connection pool. */
const JOBS_AT_ONCE = 100;

export interface PassDeps {
  storage: Storage;
  jobs: Pick<JobsService, 'createJob' | 'cancelIfOpen'>;
  clock: Clock;
  log: Log;
  onChange: (change: CampaignChange) => void;
}

/** Result of the transaction of one round. */
interface Round {
  /** The campaign after the round. */
  campaign: CampaignRecord;
  change?: CampaignChange;
  steps: Step[];
  /** More results have to be recorded. */
  again: boolean;
}

/**
 * Advances one campaign as far as possible now. Every step is in the database, so the next pass continues an interrupted one: a claimed
 * router then gets its job. Only one pass of a campaign runs at a time in this process (runner.ts).
 * @param inTurn runs one round when it is the campaign's turn; rounds of other campaigns run in between
 * @returns the time at which it can continue; undefined when only the end of a job or a caller can advance it
 */
export async function runPass(
  deps: PassDeps,
  campaignId: string,
  signal: AbortSignal,
  inTurn: <T>(round: () => Promise<T>) => Promise<T>,
): Promise<number | undefined> {
  const pass: Pass = { deps, campaignId, signal, hasCanceledJobs: false };
  while (!signal.aborted) {
    const next = await inTurn(() => goOneRound(pass));
    if (next !== 'again') return next;
  }
  return undefined;
}

interface Pass {
  deps: PassDeps;
  campaignId: string;
  signal: AbortSignal;
  hasCanceledJobs: boolean;
}

/** @returns `again` when the next round can follow at once, otherwise as {@link runPass} */
async function goOneRound(pass: Pass): Promise<number | 'again' | undefined> {
  const { deps, campaignId, signal } = pass;
  const round = await deps.storage.writes.write((tx) => playRound(tx, campaignId, deps.clock.now()));
  if (!round) return undefined;
  const { campaign, change, steps, again } = round;
  const [step] = steps;
  if (change) deps.onChange(change);
  // Claims left from before a pause or an end must not become jobs.
  const { claimed, left } = campaign.state === 'running' ? await makeJobs(deps, campaign) : { claimed: 0, left: 0 };
  if (step?.kind === 'cancel_jobs' && !pass.hasCanceledJobs) {
    pass.hasCanceledJobs = true;
    await cancelJobs(deps, campaign, signal);
    return 'again';
  }
  if (left > 0) return undefined;
  if (step?.kind === 'wait' && claimed === 0) return step.until;
  return again || claimed > 0 || step?.kind === 'stop' ? 'again' : undefined;
}

/** Records results, counts, decides and acts, in one transaction. */
async function playRound(tx: Tx, campaignId: string, now: number): Promise<Round | undefined> {
  const campaign = await holdCampaign(tx, campaignId);
  if (!campaign) return undefined;
  if (campaign.state === 'stopped' || campaign.state === 'canceled') await releaseClaims(tx, campaignId);
  const { recorded, again } = await recordEnded(tx, campaignId, now);
  const isFinished = campaign.finished_at !== null;
  if (isFinished ? recorded === 0 : again) return { campaign, steps: [], again };
  const counts = (await selectCounts(tx, campaign.team_id, [campaignId])).get(campaignId) ?? [];
  if (isFinished) await correctCounts(tx, campaignId, counts);
  const steps = isFinished ? [] : nextSteps(campaign, progressOf(counts), now);
  let round: Round = { campaign, steps, again };
  for (const step of steps) round = { ...round, ...(await act(tx, campaign, step, { now, counts })) };
  if (round.change) await insertNotices(tx, [campaignNotice(round.change, now)], now);
  return round;
}

/** @returns the change of the campaign's state, if there is one */
async function act(
  tx: Tx,
  { id, state }: CampaignRecord,
  step: Step,
  { now, counts }: { now: number; counts: readonly StatusCount[] },
): Promise<Pick<Round, 'campaign' | 'change'> | undefined> {
  switch (step.kind) {
    case 'start':
      await claimTargets(tx, id, { ...step, now });
      return undefined;
    case 'stop': {
      const campaign = await stopCampaign(tx, id, step);
      return { campaign, change: { kind: 'aborted', campaign } };
    }
    case 'finish': {
      const campaign = await finishCampaign(tx, id, counts, now);
      // The end of a campaign that ended early was already published.
      return campaign.state === state ? { campaign } : { campaign, change: { kind: 'completed', campaign } };
    }
    case 'wait':
    case 'cancel_jobs':
      return undefined;
  }
}

/** @returns how many results it recorded, and whether there may be more */
async function recordEnded(tx: Tx, campaignId: string, now: number): Promise<{ recorded: number; again: boolean }> {
  const ended = await selectEnded(tx, campaignId, RECORDED_AT_ONCE);
  const corrected = await selectCorrected(tx, campaignId, RECORDED_AT_ONCE);
  // Most routers give the same result, so a few statements record a hundred results.
  const alike = new Map<string, { result: TargetResult; routerIds: string[] }>();
  for (const target of [...ended, ...corrected]) {
    const result = resultOf(target);
    const key = JSON.stringify(result);
    const entry = alike.get(key) ?? { result, routerIds: [] };
    entry.routerIds.push(target.router_id);
    alike.set(key, entry);
  }
  for (const { result, routerIds } of alike.values()) await recordResults(tx, campaignId, routerIds, result, now);
  const again = ended.length === RECORDED_AT_ONCE || corrected.length === RECORDED_AT_ONCE;
  return { recorded: ended.length + corrected.length, again };
}

function resultOf(job: EndedTarget): TargetResult {
  // A deleted record says nothing about the result of the job.
  const status = statusOf({ ...job, deleted_at: null }) as Outcome;
  return { status, jobVersion: job.version, reason: job.reason, outputHash: outputHash(job) };
}

/** Creates jobs for claimed targets. @returns how many were claimed, and how many of them must be retried */
async function makeJobs(deps: PassDeps, campaign: CampaignRecord): Promise<{ claimed: number; left: number }> {
  const routerIds = await selectClaimed(deps.storage.db, campaign.id, JOBS_AT_ONCE);
  // The same function for all of them, so that they are linked by one statement.
  const link: BesideJobs = async (tx, made) => {
    if (!(await startTargets(tx, campaign.id, made))) throw noLongerWanted();
  };
  const isDone = await Promise.all(routerIds.map((routerId) => makeJob(deps, { campaign, routerId, link })));
  return { claimed: routerIds.length, left: isDone.filter((done) => !done).length };
}

/** @returns false when it must be retried; never rejects, so that it does not delay the others */
async function makeJob(
  { jobs, storage, clock, log }: PassDeps,
  { campaign, routerId, link }: { campaign: CampaignRecord; routerId: string; link: BesideJobs },
): Promise<boolean> {
  const { request_id: requestId, created_by: createdBy, created_via: via } = campaign;
  const request = { requestId, idempotencyKey: jobKey(campaign.id, routerId), keyGiven: false, createdBy, createdVia: via ?? undefined };
  try {
    await jobs.createJob(campaign.team_id, routerId, jobOf(campaign), request, link);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return true;
    if (isFinal(error)) {
      const why = { reason: error.code, outputHash: outputHash({ output: null, error: null, reason: error.code }) };
      await storage.writes.write((tx) => recordWithoutJob(tx, campaign.id, routerId, why, clock.now()));
      return true;
    }
    log.warn({ err: error, campaign_id: campaign.id, router_id: routerId }, 'a job of a campaign could not be created');
    return false;
  }
}

/** Paused or ended meanwhile, or another process was faster: the next round reads the new state. */
function noLongerWanted(): AppError {
  return new AppError('conflict', 'the campaign no longer needs this job');
}

/** The router was removed, or the URL is no longer allowed: a retry would not help. */
function isFinal(error: unknown): error is AppError {
  return error instanceof AppError && (error.code === 'not_found' || error.code === 'invalid');
}

function jobOf(campaign: CampaignRecord): NewJob {
  return {
    description: campaign.description,
    script: campaign.script,
    makeBackup: campaign.make_backup === 1,
    expressExecute: campaign.express_execute === 1,
    needsAcknowledgement: campaign.needs_acknowledgement === 1,
    notifyUrl: campaign.notify_url ?? undefined,
    timeoutSeconds: campaign.timeout_seconds ?? undefined,
    deliverWithinMinutes: campaign.deliver_within_minutes,
    undoSeconds: campaign.undo_seconds ?? undefined,
  };
}

/** Cancels every job that has not begun. An agent that holds a job may need seconds to answer, or begin it meanwhile. */
async function cancelJobs({ storage, jobs, log }: PassDeps, campaign: CampaignRecord, signal: AbortSignal): Promise<void> {
  const waiting = await selectJobsToCancel(storage.db, campaign.id);
  while (waiting.length > 0 && !signal.aborted) {
    const results = await Promise.allSettled(
      waiting
        .splice(0, JOBS_AT_ONCE)
        .map(({ routerId, jobId }) => jobs.cancelIfOpen(campaign.team_id, routerId, jobId, { type: 'campaign', id: campaign.id })),
    );
    for (const result of results) {
      const hasBegun = result.status === 'rejected' && result.reason instanceof AppError && result.reason.code === 'conflict';
      if (result.status === 'rejected' && !hasBegun) {
        log.warn({ err: result.reason as unknown, campaign_id: campaign.id }, 'a job of a campaign could not be canceled');
      }
    }
  }
}
