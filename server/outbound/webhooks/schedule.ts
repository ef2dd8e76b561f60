/** When an event is tried again. Pure. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits before the first, second … attempt, as Standard Webhooks has them: three days and three hours in all. */
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

/** Part of a wait that is random, half of it either way: receivers that failed together are not tried together again. */
const JITTER = 0.2;

/** The longest wait that a receiver may ask for: no longer than the schedule's own longest. */
const LONGEST_RETRY_AFTER_MS = 24 * HOUR;

/** No attempt is ever planned farther ahead, milliseconds. */
export const LONGEST_WAIT_MS = Math.max(LONGEST_RETRY_AFTER_MS, ...SCHEDULE_MS) * (1 + JITTER / 2);

export interface Failure {
  /** Made so far, with the one that has just failed. */
  attempts: number;
  now: number;
  /** `Retry-After` of the answer. */
  retryAfter: string | undefined;
  /** From 0 to below 1. */
  random: number;
}

/** The moment of the next attempt; undefined when there is to be none. */
export function nextAttemptAt({ attempts, now, retryAfter, random }: Failure): number | undefined {
  const wait = SCHEDULE_MS[attempts];
  if (wait === undefined) return undefined;
  const jittered = Math.round(wait * (1 - JITTER / 2 + JITTER * random));
  return now + Math.max(jittered, readRetryAfter(retryAfter, now));
}

/** Milliseconds that a `Retry-After` asks for (seconds or an HTTP date), 0 when it says nothing sensible. */
export function readRetryAfter(header: string | undefined, now: number): number {
  const text = header?.trim() ?? '';
  const millis = /^\d{1,10}$/.test(text) ? Number(text) * SECOND : untilDate(text, now);
  return Math.min(Math.max(millis, 0), LONGEST_RETRY_AFTER_MS);
}

/** Only what looks like an HTTP date: `Date.parse` reads numbers like `-1` as years. */
function untilDate(text: string, now: number): number {
  const moment = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(moment) ? 0 : moment - now;
}
