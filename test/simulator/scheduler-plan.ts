/** When a scheduler entry runs next, by the router's own clock. */
import { parseDate, parseDuration } from './formats.ts';

/** `startup` means this long after boot. */
export const STARTUP_DELAY_MS = 3000;

export interface PlanClock {
  wallMs: number;
  uptimeMs: number;
}

/** Wall time of the next run, strictly in the future; undefined when it will not run again. */
export function nextRun(values: ReadonlyMap<string, string>, clock: PlanClock): number | undefined {
  if (values.get('disabled') === 'true') return undefined;
  const interval = parseDuration(values.get('interval') ?? '0') ?? 0;
  if (values.get('start-time') === 'startup') {
    const first = clock.wallMs - clock.uptimeMs + STARTUP_DELAY_MS;
    return following(first, interval, clock.wallMs);
  }
  const day = parseDate(values.get('start-date') ?? '');
  const time = parseDuration(values.get('start-time') ?? '');
  return day === undefined || time === undefined ? undefined : following(day + time, interval, clock.wallMs);
}

/** A start in the past counts only for entries that repeat. */
function following(first: number, interval: number, now: number): number | undefined {
  if (first > now) return first;
  if (interval <= 0) return undefined;
  return first + (Math.floor((now - first) / interval) + 1) * interval;
}
