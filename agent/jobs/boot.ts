import type { Clock } from '../core/clock.ts';
import type { BootMark } from './journal/records.ts';

/** Uptime differences below this, in seconds, are clock drift between agent and router, not a reboot. */
const UPTIME_TOLERANCE_S = 120;

/** A router's uptime at a point in time, comparable within this process even if the wall clock is set. */
export interface Moment {
  /** The part that the journal stores. */
  mark: BootMark;
  /** By the clock's `monotonic`, milliseconds. */
  at: number;
}

export function momentNow(clock: Clock, uptimeSeconds: number | null): Moment {
  return { mark: { at: clock.now(), uptime_seconds: uptimeSeconds }, at: clock.monotonic() };
}

/** A mark of an earlier process. Only the wall clock spans both; if it has gone back since, the time starts from now. */
export function momentOfMark(mark: BootMark, clock: Clock): Moment {
  return { mark, at: clock.monotonic() - Math.max(0, clock.now() - mark.at) };
}

/** True when the uptime decreased, or is shorter than the time since `begin` by more than clock drift. */
export function hasRebooted(begin: Moment, now: Moment): boolean {
  const [before, after] = [begin.mark.uptime_seconds, now.mark.uptime_seconds];
  if (before === null || after === null) return false;
  const elapsed = (now.at - begin.at) / 1000;
  return after < before || after < before + elapsed - UPTIME_TOLERANCE_S;
}
