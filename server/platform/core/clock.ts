import { systemTimers } from '../../../runtime/timers.ts';
import type { Timers } from '../../../runtime/timers.ts';

export type { Timer } from '../../../runtime/timers.ts';

/** Time, injected everywhere so that tests move it. Milliseconds since 1970 for moments, timers for waits. */
export interface Clock extends Timers {
  now(): number;
  /**
   * Milliseconds since some moment before this process began, for how long something took or may take: nobody sets this
   * clock, while `now` jumps when an administrator or NTP sets the time.
   */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now(), ...systemTimers };
