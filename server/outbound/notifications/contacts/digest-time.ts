import { LocalDays } from '../../../platform/core/local-days.ts';
import type { Digest } from './types.ts';

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** When the next digest of a person is sent, by the clock on their wall. Pure. @param after milliseconds since 1970 */
export function nextDigestAt({ every, at, timeZone }: Pick<Digest, 'every' | 'at' | 'timeZone'>, after: number): number {
  const days = new LocalDays(timeZone);
  return every === 'hourly' ? nextFullHour(days, after) : nextDaily(days, at, after);
}

/** Clocks that change by half an hour come to the next full hour earlier or later. Zones are whole quarters of an hour off UTC. */
function nextFullHour(days: LocalDays, after: number): number {
  let at = (Math.floor(after / QUARTER_MS) + 1) * QUARTER_MS;
  for (const latest = at + 2 * HOUR_MS; at < latest && (at + days.offsetAt(at)) % HOUR_MS !== 0;) at += QUARTER_MS;
  return at;
}

/** Once for each date: a time that comes twice counts the first time, one that is left out counts as the moment of the change. */
function nextDaily(days: LocalDays, minutes: number, after: number): number {
  const today = days.dateAt(after);
  const at = firstAt(days, today, minutes);
  return at > after ? at : firstAt(days, today + 1, minutes);
}

/** The first moment of a date at which the clock on the wall shows a time, or a later one. */
function firstAt(days: LocalDays, date: number, minutes: number): number {
  const wall = date * DAY_MS + minutes * MINUTE_MS;
  const midnight = days.startOf(date);
  const [before, behind] = [days.offsetAt(midnight), days.offsetAt(midnight + DAY_MS)];
  const moments = [wall - before, wall - behind].filter((at) => at >= midnight && at + days.offsetAt(at) === wall);
  if (moments.length > 0) return Math.min(...moments);
  // The time is left out: the clocks change between these two.
  let [earlier, later] = [Math.max(midnight, wall - behind) / MINUTE_MS, (wall - before) / MINUTE_MS];
  while (later - earlier > 1) {
    const middle = Math.floor((earlier + later) / 2);
    if (days.offsetAt(middle * MINUTE_MS) === before) earlier = middle;
    else later = middle;
  }
  return Math.max(midnight, later * MINUTE_MS);
}
