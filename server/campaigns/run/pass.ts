import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { statusOf } from '../../jobs/service.ts';
import type { JobsService } from '../../jobs/service.ts';
import type { NewJob } from '../../jobs/types.ts';
import type { Storage, Tx } from '../../storage/db.ts';
import { jobKey } from '../job-key.ts';
import { outputHash } from '../output-group.ts';
import { progressOf } from '../counts.ts';
import { nextSteps } from '../steps.ts';
import type { Step } from '../steps.ts';
import { selectCounts } from '../store.ts';
import type { CampaignRecord, Outcome } from '../types.ts';
import {
  adoptJobs,
  claimTargets,
  finishCampaign,
  holdCampaign,
  releaseClaims,
  selectClaimed,
  selectCorrected,
  selectEnded,
  selectJobsToTakeBack,
  settleTargets,
  settleWithoutJob,
  stopCampaign,
} from './store.ts';
import type { EndedTarget, Settlement } from './store.ts';

/** Results written down in one transaction: each may bring 64 kB of output. */
const SETTLED_AT_ONCE = 100;
/** Jobs made at the same time: one group commit, and not too much for a small pool of connections. */
const JOBS_AT_ONCE = 100;

export interface PassDeps {
  storage: Storage;
  jobs: Pick<JobsService, 'createJob' | 'takeBackJob'>;
  clock: Clock;
  log: Log;
}

/** What the transaction of one round came to. */
interface Round {
  campaign: CampaignRecord;
  steps: Step[];
  /** More results wait to be written down. */
  again: boolean;
}

/**
 * Brings one campaign as far as it can go now. What it did is in the database after every step, so a pass that is cut
 * off anywhere is carried on by the next one: claimed targets get the job that was made for them or a new one.
 * Only one pass of a campaign runs at a time in this program (runner.ts).
 * @returns the moment at which it can go on, or undefined when only a job's end or a caller can move it
 */
export async function runPass(deps: PassDeps, campaignId: string, signal: AbortSignal): Promise<number | undefined> {
  let hasTakenBack = false;
  let made: string[] = [];
  while (!signal.aborted) {
    const round = await deps.storage.writes.write((tx) => playRound(tx, campaignId, made, deps.clock.now()));
    if (!round) return undefined;
    const { campaign, steps, again } = round;
    const [step] = steps;
    // Claims that were left over when it was paused or ended must not become jobs.
    const mayMakeJobs = campaign.state === 'running' && step?.kind !== 'stop';
    const { claimed, made: madeNow } = mayMakeJobs ? await makeJobs(deps, campaign) : { claimed: 0, made: [] };
    made = madeNow;
    if (step?.kind === 'take_back' && !hasTakenBack) {
      hasTakenBack = true;
      await takeBack(deps, campaign, signal);
      continue;
    }
    if (made.length < claimed) return undefined;
    if (step?.kind === 'wait' && claimed === 0) return step.until;
    if (!again && claimed === 0 && step?.kind !== 'stop') return undefined;
  }
  return undefined;
}

/**
 * Writes down jobs and results, counts, decides and acts: one transaction.
 * @param made routers for which this program has just made jobs
 */
async function playRound(tx: Tx, campaignId: string, made: readonly string[], now: number): Promise<Round | undefined> {
  const campaign = await holdCampaign(tx, campaignId);
  if (!campaign) return undefined;
  await adoptJobs(tx, campaignId, made);
  if (campaign.state === 'stopped' || campaign.state === 'canceled') await releaseClaims(tx, campaignId);
  const again = await settle(tx, campaignId, now);
  if (again || campaign.finished_at !== null) return { campaign, steps: [], again };
  const progress = progressOf(await selectCounts(tx, campaign.team_id, campaignId));
  const steps = nextSteps(campaign, progress, now);
  for (const step of steps) await act(tx, campaignId, step, now);
  return { campaign, steps, again };
}

async function act(tx: Tx, campaignId: string, step: Step, now: number): Promise<void> {
  switch (step.kind) {
    case 'start':
      return claimTargets(tx, campaignId, { ...step, now });
    case 'stop':
      return stopCampaign(tx, campaignId, step);
    case 'finish':
      return finishCampaign(tx, campaignId, now);
    case 'wait':
    case 'take_back':
      return undefined;
  }
}

/** @returns true when there may be more */
async function settle(tx: Tx, campaignId: string, now: number): Promise<boolean> {
  const ended = await selectEnded(tx, campaignId, SETTLED_AT_ONCE);
  const corrected = await selectCorrected(tx, campaignId, SETTLED_AT_ONCE);
  // Most routers answer alike: a handful of statements for a hundred results.
  const alike = new Map<string, { settlement: Settlement; routerIds: string[] }>();
  for (const target of [...ended, ...corrected]) {
    const settlement = settlementOf(target);
    const key = JSON.stringify(settlement);
    const entry = alike.get(key) ?? { settlement, routerIds: [] };
    entry.routerIds.push(target.router_id);
    alike.set(key, entry);
  }
  for (const { settlement, routerIds } of alike.values()) await settleTargets(tx, campaignId, routerIds, settlement, now);
  return ended.length === SETTLED_AT_ONCE || corrected.length === SETTLED_AT_ONCE;
}

function settlementOf(job: EndedTarget): Settlement {
  // That somebody has removed the record from the list says nothing about how the job ended.
  const status = statusOf({ ...job, deleted_at: null }) as Outcome;
  return { status, jobVersion: job.version, reason: job.reason, outputHash: outputHash(job) };
}

/** Makes jobs for claimed targets. @returns how many were claimed, and for which of them that is settled */
async function makeJobs(deps: PassDeps, campaign: CampaignRecord): Promise<{ claimed: number; made: string[] }> {
  const routerIds = await selectClaimed(deps.storage.db, campaign.id, JOBS_AT_ONCE);
  const isMade = await Promise.all(routerIds.map((routerId) => makeJob(deps, campaign, routerId)));
  return { claimed: routerIds.length, made: routerIds.filter((_id, index) => isMade[index]) };
}

/** @returns false when it has to be tried again; never rejects, so that the others are not held up */
async function makeJob({ jobs, storage, clock, log }: PassDeps, campaign: CampaignRecord, routerId: string): Promise<boolean> {
  const request = { requestId: campaign.request_id, idempotencyKey: jobKey(campaign.id, routerId), keyGiven: true };
  try {
    await jobs.createJob(campaign.team_id, routerId, jobOf(campaign), request);
    return true;
  } catch (error) {
    if (isFinal(error)) {
      const why = { reason: error.code, outputHash: outputHash({ output: null, error: null, reason: error.code }) };
      await storage.writes.write((tx) => settleWithoutJob(tx, campaign.id, routerId, why, clock.now()));
      return true;
    }
    log.warn({ err: error, campaign_id: campaign.id, router_id: routerId }, 'a job of a campaign could not be made');
    return false;
  }
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
  };
}

/** Asks for every job that has not begun; what an agent holds may take some seconds to answer, or begin meanwhile. */
async function takeBack({ storage, jobs, log }: PassDeps, campaign: CampaignRecord, signal: AbortSignal): Promise<void> {
  const waiting = await selectJobsToTakeBack(storage.db, campaign.id);
  while (waiting.length > 0 && !signal.aborted) {
    const results = await Promise.allSettled(
      waiting.splice(0, JOBS_AT_ONCE).map(({ routerId, jobId }) => jobs.takeBackJob(campaign.team_id, routerId, jobId)),
    );
    for (const result of results) {
      const hasBegun = result.status === 'rejected' && result.reason instanceof AppError && result.reason.code === 'conflict';
      if (result.status === 'rejected' && !hasBegun) {
        log.warn({ err: result.reason as unknown, campaign_id: campaign.id }, 'a job of a campaign could not be taken back');
      }
    }
  }
}
