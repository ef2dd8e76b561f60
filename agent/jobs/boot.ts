import type { Clock } from '../core/clock.ts';
import type { BootMark } from './journal/records.ts';

/** A clock that is off by less than this between agent and router is not a reboot, seconds. */
const UPTIME_TOLERANCE_S = 120;

/** A router at a moment, which this process can hold against later ones although its wall clock may be set meanwhile. */
export interface Moment {
  /** What the journal keeps of it. */
  mark: BootMark;
  /** By the clock's `monotonic`, milliseconds. */
  at: number;
}

export function momentNow(clock: Clock, uptimeSeconds: number | null): Moment {
  return { mark: { at: clock.now(), uptime_seconds: uptimeSeconds }, at: clock.monotonic() };
}

/** What an earlier process marked. Only the wall clock spans the two; if it has gone back since, the time begins anew. */
export function recalled(mark: BootMark, clock: Clock): Moment {
  return { mark, at: clock.monotonic() - Math.max(0, clock.now() - mark.at) };
}

/** Uptime that went back, or that is shorter than the time since `begin` by more than clocks differ. */
export function hasRebooted(begin: Moment, now: Moment): boolean {
  const [before, after] = [begin.mark.uptime_seconds, now.mark.uptime_seconds];
  if (before === null || after === null) return false;
  const elapsed = (now.at - begin.at) / 1000;
  return after < before || after < before + elapsed - UPTIME_TOLERANCE_S;
}
