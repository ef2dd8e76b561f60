import { systemTimers } from '../../../runtime/timers.ts';
import type { Timers } from '../../../runtime/timers.ts';

export type { Timer } from '../../../runtime/timers.ts';

/** Time, injected everywhere so that tests can move it. Milliseconds since 1970 for points in time, timers for waits. */
export interface Clock extends Timers {
  now(): number;
  /**
   * Monotonic milliseconds since an arbitrary point before this process started, to measure durations and deadlines.
   * `now` jumps when an administrator or NTP sets the time; this clock does not.
   */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now(), ...systemTimers };
