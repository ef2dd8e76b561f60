import type { Timers } from '../runtime/timers.ts';

export interface LivenessOptions {
  timers: Timers;
  /** 0 <= x < 1. */
  random: () => number;
  /** Longest period between two checks, in milliseconds; each is drawn from 80 to 100 % of it. */
  periodMs: number;
  /** Bytes received so far on the connection. Any byte counts, also half of a long message. */
  bytesRead(): number;
  /** True while this side does not read: silence then proves nothing. */
  paused(): boolean;
  /** Asks the other side for an answer. */
  ping(): void;
  /** Called once, after two whole periods without a byte. */
  onDead(): void;
}

/** Two periods: a ping sent at the start of the second one had a whole period for its answer. */
const SILENT_PERIODS = 2;

/** Detects dead links. Counting bytes costs nothing per message, and jitter spreads the pings of thousands of agents. */
export class Liveness {
  readonly #options: LivenessOptions;
  #seen: number;
  #silent = 0;
  #timer: { cancel(): void };

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#seen = options.bytesRead();
    this.#timer = this.#next();
  }

  stop(): void {
    this.#timer.cancel();
  }

  #next(): { cancel(): void } {
    const { timers, random, periodMs } = this.#options;
    return timers.setTimeout(() => this.#check(), periodMs * (0.8 + 0.2 * random()));
  }

  #check(): void {
    const bytes = this.#options.bytesRead();
    this.#silent = bytes === this.#seen && !this.#options.paused() ? this.#silent + 1 : 0;
    this.#seen = bytes;
    if (this.#silent >= SILENT_PERIODS) {
      this.#options.onDead();
      return;
    }
    this.#options.ping();
    this.#timer = this.#next();
  }
}
