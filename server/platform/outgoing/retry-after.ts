/** When a receiver wants to be asked again. Pure. */

const SECOND = 1000;

/** The longest wait that a receiver may request: a day, as long as the longest wait of the webhooks' schedule. */
export const LONGEST_RETRY_AFTER_MS = 24 * 3600 * SECOND;

/** Milliseconds requested by `Retry-After` (seconds or an HTTP date), 0 for an invalid value. */
export function readRetryAfter(header: string | undefined, now: number): number {
  const text = header?.trim() ?? '';
  const millis = /^\d{1,10}$/.test(text) ? Number(text) * SECOND : untilDate(text, now);
  return Math.min(Math.max(millis, 0), LONGEST_RETRY_AFTER_MS);
}

/** Only HTTP dates: `Date.parse` reads numbers like `-1` as years. */
function untilDate(text: string, now: number): number {
  const moment = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(moment) ? 0 : moment - now;
}
