import { isActive } from './active.ts';
import { formatsOf } from './formats.ts';
import { DAYS } from './types.ts';
import type { Weekly } from './types.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const minuteIn = formatsOf({ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' });

/** The next time, to the minute, at which the schedule begins or ends; null for one that never does. @param now milliseconds since 1970 */
export function nextChange(schedule: Weekly, now: number): number | null {
  const present = isActive(schedule, now);
  let before = now;
  for (const moment of edgesAfter(schedule, now)) {
    if (isActive(schedule, moment) !== present) return firstMinute(schedule, before, moment);
    before = moment;
  }
  return null;
}

/**
 * Times around which a window may begin or end in the next eight days, in order. Local times are read with the offsets before and after
 * a clock change, so one of them is not too early for a skipped or repeated hour.
 */
function edgesAfter({ timeZone, windows }: Weekly, now: number): number[] {
  const edges = new Set<number>();
  const today = Math.floor((now + offsetOf(timeZone, now)) / DAY) * DAY;
  for (let day = -1; day <= 8; day += 1) {
    const midnight = today + day * DAY;
    const weekday = DAYS[new Date(midnight).getUTCDay()]!;
    const offsets = new Set([offsetOf(timeZone, midnight - DAY), offsetOf(timeZone, midnight), offsetOf(timeZone, midnight + 2 * DAY)]);
    // In a repeated hour a window may begin or end with the change itself.
    if (offsets.size > 1) for (const change of clockChanges(timeZone, midnight - DAY, midnight + 2 * DAY)) edges.add(change);
    for (const window of windows) {
      if (window.day !== weekday) continue;
      const end = window.to > window.from ? window.to : window.to + 24 * 60;
      for (const offset of offsets) {
        edges.add(midnight + window.from * MINUTE - offset);
        edges.add(midnight + end * MINUTE - offset);
      }
    }
  }
  return [...edges].filter((edge) => edge > now).toSorted((one, other) => one - other);
}

/** Times between two times at which the clocks of the time zone change. */
function clockChanges(timeZone: string, from: number, to: number): number[] {
  const changes: number[] = [];
  for (let hour = from; hour < to; hour += DAY / 24) {
    const [before, after] = [offsetOf(timeZone, hour), offsetOf(timeZone, hour + DAY / 24)];
    if (before === after) continue;
    let [low, high] = [hour / MINUTE, (hour + DAY / 24) / MINUTE];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetOf(timeZone, middle * MINUTE) === after) high = middle;
      else low = middle;
    }
    changes.push(high * MINUTE);
  }
  return changes;
}

/** The first minute after `from` at which the state is that of `to`. */
function firstMinute(schedule: Weekly, from: number, to: number): number {
  const state = isActive(schedule, to);
  let [low, high] = [Math.floor(from / MINUTE), Math.ceil(to / MINUTE)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isActive(schedule, middle * MINUTE) === state) high = middle;
    else low = middle;
  }
  return high * MINUTE;
}

/** Milliseconds to add to UTC. */
function offsetOf(timeZone: string, at: number): number {
  const parts = new Map(
    minuteIn(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const local = Date.UTC(parts.get('year')!, parts.get('month')! - 1, parts.get('day'), parts.get('hour'), parts.get('minute'));
  return local - Math.floor(at / MINUTE) * MINUTE;
}
