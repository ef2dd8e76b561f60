import { LONGEST_RETRY_AFTER_MS, readRetryAfter } from '../../platform/outgoing/retry-after.ts';

/** Times of retries. Pure. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits before the first, second … attempt, as in Standard Webhooks: three days and three hours in total. */
export const SCHEDULE_MS: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** Random part of a wait, half of it in either direction, so that receivers that failed together are not retried together. */
const JITTER = 0.2;

/** Latest time of a scheduled attempt from now, milliseconds. */
export const LONGEST_WAIT_MS = Math.max(LONGEST_RETRY_AFTER_MS, ...SCHEDULE_MS) * (1 + JITTER / 2);

export interface Failure {
  /** Attempts so far, including the one that has just failed. */
  attempts: number;
  now: number;
  /** `Retry-After` of the answer. */
  retryAfter: string | undefined;
  /** From 0 to below 1. */
  random: number;
}

/** Time of the next attempt; undefined for none. */
export function nextAttemptAt({ attempts, now, retryAfter, random }: Failure): number | undefined {
  const wait = SCHEDULE_MS[attempts];
  if (wait === undefined) return undefined;
  const jittered = Math.round(wait * (1 - JITTER / 2 + JITTER * random));
  return now + Math.max(jittered, readRetryAfter(retryAfter, now));
}
