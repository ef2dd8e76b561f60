import { LocalDays } from '../../../platform/core/local-days.ts';

/** When a local time comes, in a zone whose clocks change. Pure. */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The last moment up to `now` at which the clocks of a zone showed the time. @param minutes after midnight */
export function lastMoment(minutes: number, timeZone: string, now: number): number {
  const days = new LocalDays(timeZone);
  const today = days.dateAt(now);
  // The day before yesterday for zones that left out a day.
  const moments = [today, today - 1, today - 2].map((date) => momentOn(days, date, minutes));
  return moments.find((moment) => moment <= now) ?? now - DAY_MS;
}

/** The first moment after `now` at which the clocks of a zone show the time. @param minutes after midnight */
export function nextMoment(minutes: number, timeZone: string, now: number): number {
  const days = new LocalDays(timeZone);
  const today = days.dateAt(now);
  const moments = [today, today + 1, today + 2].map((date) => momentOn(days, date, minutes));
  return moments.find((moment) => moment > now) ?? now + DAY_MS;
}

/** Of a time that comes twice, the first; one that is left out comes as much later as the clocks jump. */
function momentOn(days: LocalDays, date: number, minutes: number): number {
  const shown = date * DAY_MS + minutes * MINUTE_MS;
  const [before, after] = [days.offsetAt(shown - DAY_MS), days.offsetAt(shown + DAY_MS)];
  const first = shown - before;
  if (days.offsetAt(first) === before) return first;
  const second = shown - after;
  return days.offsetAt(second) === after ? second : first;
}
