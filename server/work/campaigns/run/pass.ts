import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Log } from '../../../platform/core/log.ts';
import { statusOf } from '../../jobs/service.ts';
import type { JobsService } from '../../jobs/service.ts';
import type { NewJob } from '../../jobs/types.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import { jobKey } from '../job-key.ts';
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
  startTarget,
  stopCampaign,
} from './store.ts';
import type { EndedTarget, TargetResult } from './store.ts';

/** Results written down in one transaction: each may bring 64 kB of output. */
const RECORDED_AT_ONCE = 100;
/** Jobs made at the same time: one group commit, and not too much for a small pool of connections. */
const JOBS_AT_ONCE = 100;

export interface PassDeps {
  storage: Storage;
  jobs: Pick<JobsService, 'createJob' | 'cancelIfOpen'>;
  clock: Clock;
  log: Log;
  onChange: (change: CampaignChange) => void;
}

/** What the transaction of one round came to. */
interface Round {
  /** As the round has left it. */
  campaign: CampaignRecord;
  change?: CampaignChange;
  steps: Step[];
  /** More results wait to be written down. */
  again: boolean;
}

/**
 * Brings one campaign as far as it can go now. What it did is in the database after every step, so a pass that is cut
 * off anywhere is carried on by the next one: what is claimed gets its job then.
 * Only one pass of a campaign runs at a time in this program (runner.ts).
 * @param inTurn does one round when it is the campaign's turn; others have theirs in between
 * @returns the moment at which it can go on, or undefined when only a job's end or a caller can move it
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
  // Claims that were left over when it was paused or ended must not become jobs.
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

/** Writes down results, counts, decides and acts: one transaction. */
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
  return round;
}

/** @returns what the campaign has become, if that is news */
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
      // The end of one that was ended early has been told.
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
  // Most routers answer alike: a handful of statements for a hundred results.
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
  // That somebody has removed the record from the list says nothing about how the job ended.
  const status = statusOf({ ...job, deleted_at: null }) as Outcome;
  return { status, jobVersion: job.version, reason: job.reason, outputHash: outputHash(job) };
}

/** Makes jobs for claimed targets. @returns how many were claimed, and how many of them have to be tried again */
async function makeJobs(deps: PassDeps, campaign: CampaignRecord): Promise<{ claimed: number; left: number }> {
  const routerIds = await selectClaimed(deps.storage.db, campaign.id, JOBS_AT_ONCE);
  const isDone = await Promise.all(routerIds.map((routerId) => makeJob(deps, campaign, routerId)));
  return { claimed: routerIds.length, left: isDone.filter((done) => !done).length };
}

/** @returns false when it has to be tried again; never rejects, so that the others are not held up */
async function makeJob({ jobs, storage, clock, log }: PassDeps, campaign: CampaignRecord, routerId: string): Promise<boolean> {
  const { request_id: requestId, created_by: createdBy, created_via: via } = campaign;
  const request = { requestId, idempotencyKey: jobKey(campaign.id, routerId), keyGiven: false, createdBy, createdVia: via ?? undefined };
  try {
    await jobs.createJob(campaign.team_id, routerId, jobOf(campaign), request, async (tx, job) => {
      if (!(await startTarget(tx, campaign.id, routerId, job.id))) throw noLongerWanted();
    });
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return true;
    if (isFinal(error)) {
      const why = { reason: error.code, outputHash: outputHash({ output: null, error: null, reason: error.code }) };
      await storage.writes.write((tx) => recordWithoutJob(tx, campaign.id, routerId, why, clock.now()));
      return true;
    }
    log.warn({ err: error, campaign_id: campaign.id, router_id: routerId }, 'a job of a campaign could not be made');
    return false;
  }
}

/** Paused or ended meanwhile, or another program was quicker: the next round sees which. */
function noLongerWanted(): AppError {
  return new AppError('conflict', 'the campaign does not want this job any more');
}

/** The router is gone, or the server's rules no longer allow the URL: trying again would not help. */
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

/** Asks for every job that has not begun; what an agent holds may take some seconds to answer, or begin meanwhile. */
async function cancelJobs({ storage, jobs, log }: PassDeps, campaign: CampaignRecord, signal: AbortSignal): Promise<void> {
  const waiting = await selectJobsToCancel(storage.db, campaign.id);
  while (waiting.length > 0 && !signal.aborted) {
    const results = await Promise.allSettled(
      waiting.splice(0, JOBS_AT_ONCE).map(({ routerId, jobId }) => jobs.cancelIfOpen(campaign.team_id, routerId, jobId)),
    );
    for (const result of results) {
      const hasBegun = result.status === 'rejected' && result.reason instanceof AppError && result.reason.code === 'conflict';
      if (result.status === 'rejected' && !hasBegun) {
        log.warn({ err: result.reason as unknown, campaign_id: campaign.id }, 'a job of a campaign could not be taken back');
      }
    }
  }
}
