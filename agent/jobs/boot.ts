import type { BootMark } from './journal/records.ts';

/** A clock that is off by less than this between agent and router is not a reboot, seconds. */
const UPTIME_TOLERANCE_S = 120;

/** Uptime that went back, or that is shorter than the time since BEGIN by more than clocks differ. */
export function hasRebooted(begin: BootMark, now: BootMark): boolean {
  if (begin.uptime_seconds === null || now.uptime_seconds === null) return false;
  const elapsed = (now.at - begin.at) / 1000;
  return now.uptime_seconds < begin.uptime_seconds || now.uptime_seconds < begin.uptime_seconds + elapsed - UPTIME_TOLERANCE_S;
}
