/** The timers that the pure parts of the protocol need; either side hands in its clock. */
export interface Timers {
  /** Calls back once after `ms` milliseconds. */
  setTimeout(callback: () => void, ms: number): { cancel(): void };
}
