/** Time, injected everywhere so that tests move it. Milliseconds since 1970 for moments, timers for waits. */
export interface Clock {
  now(): number;
  /**
   * Milliseconds since some moment before this process began, for how long something took or may take: nobody sets this
   * clock, while `now` jumps when an administrator or NTP sets the time.
   */
  monotonic(): number;
  /** Calls back once after `ms`; never keeps the process alive. */
  setTimeout(callback: () => void, ms: number): Timer;
}

export interface Timer {
  cancel(): void;
}

/** setTimeout fires at once for longer waits than this (a signed 32-bit count of milliseconds, 24.8 days). */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(callback, ms) {
    const handle = setTimeout(callback, Math.min(Math.max(ms, 0), LONGEST_TIMEOUT_MS));
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
