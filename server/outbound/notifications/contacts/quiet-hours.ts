import { LocalDays } from '../../../platform/core/local-days.ts';
import type { Quiet, QuietHours } from './types.ts';

const MINUTE_MS = 60_000;
const MINUTES_OF_DAY = 1440;

/** Until when a message waits for the end of somebody's quiet hours; null when it does not. Pure. */
export function heldUntil(quiet: Quiet | null, severity: string, now: number): number | null {
  if (quiet === null || (severity === 'critical' && quiet.hours.criticalBreaksThrough)) return null;
  return quietUntil(quiet.hours, quiet.timeZone, now);
}

/**
 * When a person's quiet hours that contain `now` end, by the clock on the wall; null outside of them. Pure.
 * @param timeZone IANA name @param now milliseconds since 1970
 */
export function quietUntil({ from, to }: QuietHours, timeZone: string, now: number): number | null {
  const days = new LocalDays(timeZone);
  const minuteAt = (at: number): number => Math.floor((at + days.offsetAt(at)) / MINUTE_MS) % MINUTES_OF_DAY;
  const isQuiet = (at: number): boolean => {
    const minute = minuteAt(at);
    return to > from ? minute >= from && minute < to : minute >= from || minute < to;
  };
  if (!isQuiet(now)) return null;
  const begun = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const left = (to - minuteAt(begun) + MINUTES_OF_DAY) % MINUTES_OF_DAY || MINUTES_OF_DAY;
  let end = begun + left * MINUTE_MS;
  // The clocks were set forward: the end came earlier, or its minute does not exist today. Set back: it comes later.
  while (end - MINUTE_MS > now && !isQuiet(end - MINUTE_MS)) end -= MINUTE_MS;
  while (isQuiet(end)) end += MINUTE_MS;
  return end;
}
