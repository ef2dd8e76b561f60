import { paceOf } from './pace.ts';
import type { CampaignRecord, CanaryState, StopReason } from './types.ts';

/**
 * What a campaign does next. Pure: run/pass.ts calls it inside the transaction that locks the campaign and acts in the same transaction, so
 * that two processes cannot act on the same numbers.
 *
 * - The first routers are canaries. The others start only when every canary has completed. Any other end of a canary (failed, expired,
 *   `unknown`, canceled) stops the campaign.
 * - A job is under way from the claim of its router until its result is known, whether it waits or runs. Never more than `most_at_once`
 *   jobs are under way, even if all unreachable routers come back in the same second. An unreachable router counts only until its job
 *   expires (an hour by default), and run/store.ts claims reachable routers first.
 * - Failed, expired and `unknown` jobs are failures. Canceled jobs are neither results nor failures.
 * - The share of failures counts from the fifth result on: before that, one failure would be too large a share.
 */

export type Plan = Pick<
  CampaignRecord,
  'rate_per_minute' | 'most_at_once' | 'abort_after_failures' | 'abort_at_percent' | 'next_start_at'
> & { state: string };

/** Number of routers in each state; each router is counted once. */
export interface Tally {
  waiting: number;
  /** Claimed, or with a job whose result is not known yet. */
  underWay: number;
  completed: number;
  /** failed, expired or unknown */
  failed: number;
  canceled: number;
}

export interface Progress {
  canaries: Tally;
  others: Tally;
}

export type Step =
  /** Claim this many canaries or others; after that none before `nextStartAt`. */
  | { kind: 'start'; count: number; canaries: boolean; nextStartAt: number }
  | { kind: 'wait'; until: number }
  | { kind: 'stop'; reason: StopReason; message: string }
  /** The campaign has ended early: cancel the jobs that wait for their router. */
  | { kind: 'cancel_jobs' }
  /** No job is under way. */
  | { kind: 'finish' };

/** Results needed before the percentage counts. */
const PERCENT_FROM = 5;
/** Claims in one transaction, which blocks the database for some milliseconds. */
export const MOST_CLAIMED = 100;

export function nextSteps(plan: Plan, progress: Progress, now: number): Step[] {
  const underWay = progress.canaries.underWay + progress.others.underWay;
  if (plan.state === 'finished') return [];
  if (plan.state === 'stopped' || plan.state === 'canceled') return [{ kind: underWay > 0 ? 'cancel_jobs' : 'finish' }];
  const stop = whyStop(plan, progress);
  if (stop) return [stop];
  const waiting = progress.canaries.waiting + progress.others.waiting;
  if (waiting + underWay === 0) return [{ kind: 'finish' }];
  return plan.state === 'running' ? startOrWait(plan, progress, now) : [];
}

/** Why the campaign must stop; also checked while it is paused, because its jobs continue. */
function whyStop(plan: Plan, { canaries, others }: Progress): Extract<Step, { kind: 'stop' }> | undefined {
  const lost = canaries.failed + canaries.canceled;
  if (lost > 0) return { kind: 'stop', reason: 'canary_failed', message: `${lost} of ${sizeOf(canaries)} canaries did not complete` };
  // Nothing is left to stop.
  if (canaries.waiting + canaries.underWay + others.waiting + others.underWay === 0) return undefined;
  const { abort_after_failures: most, abort_at_percent: percent } = plan;
  const { failed } = others;
  if (most !== null && failed >= most) {
    return { kind: 'stop', reason: 'failures', message: `${failed} routers failed; the limit was ${most}` };
  }
  const results = failed + others.completed + canaries.completed;
  if (percent !== null && results >= PERCENT_FROM && failed * 100 >= percent * results) {
    return {
      kind: 'stop',
      reason: 'failure_percentage',
      message: `${failed} of ${results} results are failures; the limit was ${percent} %`,
    };
  }
  return undefined;
}

function startOrWait(plan: Plan, { canaries, others }: Progress, now: number): Step[] {
  const isCanaryTurn = canaries.waiting + canaries.underWay > 0;
  const candidates = isCanaryTurn ? canaries.waiting : others.waiting;
  const room = plan.most_at_once - canaries.underWay - others.underWay;
  const pace = paceOf(plan.rate_per_minute);
  const count = Math.min(candidates, room, pace.atOnce, MOST_CLAIMED);
  if (count <= 0) return [];
  const wait = plan.next_start_at - now;
  // Longer than one step means that the clock was set back; waiting for it could take hours.
  if (wait > 0 && wait <= pace.everyMs) return [{ kind: 'wait', until: plan.next_start_at }];
  return [{ kind: 'start', count, canaries: isCanaryTurn, nextStartAt: now + pace.everyMs }];
}

export function sizeOf({ waiting, underWay, completed, failed, canceled }: Tally): number {
  return waiting + underWay + completed + failed + canceled;
}

export function canaryState(canaries: Tally): CanaryState {
  const size = sizeOf(canaries);
  if (size === 0) return 'none';
  if (canaries.failed + canaries.canceled > 0) return 'failed';
  return canaries.completed === size ? 'passed' : 'running';
}
