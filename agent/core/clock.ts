import { uptime } from 'node:os';
import { systemTimers } from '../../runtime/timers.ts';
import type { Timer, Timers } from '../../runtime/timers.ts';

export type { Timer };

/** Time, injected everywhere so that tests move it. Milliseconds since 1970 for moments, timers for waits. */
export interface Clock extends Timers {
  now(): number;
  /**
   * Milliseconds since some moment before this process began, for how long something took: nobody sets this clock, while
   * `now` jumps when a machine without a clock of its own hears the time.
   */
  monotonic(): number;
  /**
   * Milliseconds since the machine started, those included in which it was suspended: `monotonic` and all timers stand still
   * then. For what ends at a time that others keep as well. Nobody sets it; it goes in steps of about 10 ms.
   */
  sinceBoot(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => uptime() * 1000,
  ...systemTimers,
};

/** A machine that is back from being suspended finds out what is over so long after, milliseconds. */
const RECHECK_MS = 1000;

/** Calls back once when `sinceBoot` has reached a moment; soon after a suspension that outlasted it. */
export function atMoment(clock: Clock, moment: number, callback: () => void): Timer {
  const check = (): Timer => {
    const left = moment - clock.sinceBoot();
    if (left <= 0) return clock.setTimeout(callback, 0);
    return clock.setTimeout(() => (timer = check()), Math.min(left, RECHECK_MS));
  };
  let timer = check();
  return { cancel: () => timer.cancel() };
}

/** Resolves after `ms`, or at once when `signal` aborts: whoever loops looks at the signal. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const wake = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = clock.setTimeout(wake, ms);
    signal.addEventListener('abort', wake);
  });
}
