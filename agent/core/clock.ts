import { uptime } from 'node:os';
import { systemTimers } from '../../runtime/timers.ts';
import type { Timer, Timers } from '../../runtime/timers.ts';

export type { Timer };

/** Time, injected everywhere so that tests control it. Milliseconds since 1970 for points in time, timers for waits. */
export interface Clock extends Timers {
  now(): number;
  /**
   * Milliseconds of a monotonic clock, for durations. Nothing sets it, while `now` jumps when the machine's clock is set.
   */
  monotonic(): number;
  /**
   * Milliseconds since the machine started, including time in suspension, in which `monotonic` and all timers stop. For deadlines
   * that other machines keep as well. Nothing sets it; its resolution is about 10 ms.
   */
  sinceBoot(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => uptime() * 1000,
  ...systemTimers,
};

/** Interval of checks, in milliseconds: after a suspension a deadline fires this late at most. */
const RECHECK_MS = 1000;

/** Calls back once when `sinceBoot` has reached `moment`, or soon after a suspension that outlasted it. */
export function atBootTime(clock: Clock, moment: number, callback: () => void): Timer {
  const check = (): Timer => {
    const left = moment - clock.sinceBoot();
    if (left <= 0) return clock.setTimeout(callback, 0);
    return clock.setTimeout(() => (timer = check()), Math.min(left, RECHECK_MS));
  };
  let timer = check();
  return { cancel: () => timer.cancel() };
}

/** Resolves after `ms`, or at once when `signal` aborts. A loop must check the signal. */
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
