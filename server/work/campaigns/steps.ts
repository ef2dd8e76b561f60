import { paceOf } from './pace.ts';
import type { CampaignRecord, CanaryState, StopReason } from './types.ts';

/**
 * What a campaign does next. Pure: run/pass.ts asks inside the transaction that holds the campaign, and does what the
 * answer says in the same transaction, so that two programs cannot both act on the same numbers.
 *
 * - The first routers are canaries. The rest begins only when every canary has completed; any other end of one (a
 *   failure, an expiry, `unknown`, taken back) stops the campaign.
 * - A job is under way from the moment its router is claimed until its end is known, whether it waits for its router or
 *   runs: never more than `most_at_once` are, even if all routers that were away come back in the same second. A router
 *   that stays away holds its place only until its job expires (an hour unless told otherwise), and run/store.ts
 *   lets routers go first that answer.
 * - Failed, expired and `unknown` jobs are failures. Jobs that somebody took back are neither results nor failures.
 * - The share of failures counts from the fifth result on; before that one failure would be too large a share of too little.
 */

export type Plan = Pick<
  CampaignRecord,
  'rate_per_minute' | 'most_at_once' | 'abort_after_failures' | 'abort_at_percent' | 'next_start_at'
> & { state: string };

/** How many routers are where; each is counted once. */
export interface Tally {
  waiting: number;
  /** Claimed, or with a job whose end is not known yet. */
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
  /** Claim so many of the canaries or of the others; none after that before `nextStartAt`. */
  | { kind: 'start'; count: number; canaries: boolean; nextStartAt: number }
  | { kind: 'wait'; until: number }
  | { kind: 'stop'; reason: StopReason; message: string }
  /** The campaign has ended early: what waits for its router is to be taken back. */
  | { kind: 'cancel_jobs' }
  /** Nothing is under way any more. */
  | { kind: 'finish' };

/** Results before the percentage counts. */
const PERCENT_FROM = 5;
/** Claimed by one transaction, which holds the database for some milliseconds. */
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

/** Why it must not go on; also asked while it is paused, because its jobs go on. */
function whyStop(plan: Plan, { canaries, others }: Progress): Extract<Step, { kind: 'stop' }> | undefined {
  const lost = canaries.failed + canaries.canceled;
  if (lost > 0) return { kind: 'stop', reason: 'canary_failed', message: `${lost} of ${sizeOf(canaries)} canaries did not complete` };
  // Nothing is left that could be stopped.
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
  // Longer than one step: the clock was set back, and waiting for it could take hours.
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
