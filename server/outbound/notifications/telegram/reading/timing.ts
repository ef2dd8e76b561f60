/** When the messages to the bot are read. Pure. */

/** How long Telegram waits for a message before it answers. Shorter than proxies cut quiet connections, seconds. */
const WAIT_SECONDS = 20;
/**
 * After a failure: soon enough for people to see that it is over, and long enough for another program that reads the messages as well to ask
 * again, which ends this request (409).
 */
const TRY_SECONDS = 3;
/** A whole request, with its wait, milliseconds. */
export const READ_WITHIN_MS = 30_000;
/** Answers to people, all of one reading at once, milliseconds. */
export const SAY_WITHIN_MS = 5000;
/** Lifetime of a claim, milliseconds: longer than a request, its record and the answers. */
export const LEASE_MS = 60_000;
/** Without a message: a server that does not wait, although it is asked to, is not asked more often. Milliseconds. */
const EVERY_MS = 1000;
const FIRST_PAUSE_MS = 2000;
/** A person looks at the page and waits. Milliseconds. */
const LONGEST_PAUSE_MS = 60_000;

/**
 * Telegram keeps messages for 24 hours, and after a week without one it counts on from a random number (core.telegram.org/bots/api#update). After
 * two days nothing is there that an old position would skip, and what comes may be below it. Milliseconds.
 */
const POSITION_FOR_MS = 2 * 24 * 3_600_000;

/** How long Telegram may wait: not longer than somebody waits for it. @param left milliseconds until the last link ends */
export function waitSeconds(left: number, failures: number): number {
  return Math.min(failures > 0 ? TRY_SECONDS : WAIT_SECONDS, Math.max(1, Math.ceil(left / 1000)));
}

/** Time of the next request after one that has succeeded. */
export function nextRead({ startedAt, updates, now }: { startedAt: number; updates: number; now: number }): number {
  return updates > 0 ? now : Math.max(now, startedAt + EVERY_MS);
}

/** Time of the next request after failures. @param failures in a row, from 1 */
export function nextTry({ failures, retryAfterMs = 0, now }: { failures: number; retryAfterMs?: number | undefined; now: number }): number {
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10));
  return now + Math.max(pause, retryAfterMs);
}

interface Position {
  bot_id: string | null;
  next_update: number | null;
  moved_at: number | null;
}

/** From which update on the bot's messages are wanted; null: from the earliest. Each bot counts for itself. */
export function positionOf({ bot_id: of, next_update: next, moved_at: movedAt }: Position, botId: string, now: number): number | null {
  return of === botId && movedAt !== null && now - movedAt < POSITION_FOR_MS ? next : null;
}
