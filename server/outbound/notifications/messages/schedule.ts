/** Times of the attempts of an alert. Pure. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** An alert that is older than this helps nobody; what is still open is told by its next message. */
export const EXPIRES_AFTER_MS = 6 * 60 * MINUTE;

/** Somebody waits for the result of a test. What arrives later would only puzzle those who get it. */
export const TEST_EXPIRES_AFTER_MS = 9 * SECOND;

/** The next one does not say it again. */
export const DIGEST_EXPIRES_AFTER_MS = 24 * 60 * MINUTE;

/** How long messages of a kind are tried, milliseconds. */
export function expiresAfter(kind: string): number {
  if (kind === 'test') return TEST_EXPIRES_AFTER_MS;
  return kind === 'digest' ? DIGEST_EXPIRES_AFTER_MS : EXPIRES_AFTER_MS;
}

/** How long one attempt may take, milliseconds: nothing of a test is sent after the answer to who asked for it. */
export function attemptWithin(message: { kind: string; expires_at: number | null }, deadlineMs: number, now: number): number {
  if (message.kind !== 'test' || message.expires_at === null) return deadlineMs;
  return Math.min(deadlineMs, Math.max(0, message.expires_at - now));
}

/** Waits before the first, second … attempt; the last one repeats until the message expires. */
export const ATTEMPTS_MS: readonly number[] = [
  0,
  5 * SECOND,
  15 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  20 * MINUTE,
  30 * MINUTE,
];

/** Random part of a wait, half of it in either direction, so that providers that failed together are not asked together. */
const JITTER = 0.2;

/** The longest quiet hours, in the night in which the clocks are set back. */
const LONGEST_HOLD_MS = 25 * 60 * MINUTE;

/** Latest time of an attempt from now, milliseconds: after quiet hours, and when a provider asks for a pause for the life of the message. */
export const LONGEST_WAIT_MS = LONGEST_HOLD_MS + EXPIRES_AFTER_MS;

/** Time of the next attempt. @param attempts made so far; `random` from 0 to below 1 */
export function nextAttemptAt({ attempts, now, random }: { attempts: number; now: number; random: number }): number {
  const wait = ATTEMPTS_MS[Math.min(attempts, ATTEMPTS_MS.length - 1)]!;
  return now + Math.round(wait * (1 - JITTER / 2 + JITTER * random));
}
