export interface Timer {
  cancel(): void;
}

/** Timers, injected everywhere so that tests move time; either side hands in its clock. */
export interface Timers {
  /** Calls back once after `ms` milliseconds; never keeps the process alive. */
  setTimeout(callback: () => void, ms: number): Timer;
}

/** setTimeout fires at once for longer waits than this (a signed 32-bit count of milliseconds, 24.8 days). */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The timers of this process. */
export const systemTimers: Timers = {
  setTimeout(callback, ms) {
    const handle = setTimeout(callback, Math.min(Math.max(ms, 0), LONGEST_TIMEOUT_MS));
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
