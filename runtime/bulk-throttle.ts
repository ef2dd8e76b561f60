import { performance } from 'node:perf_hooks';

/**
 * How long bulk bytes yield to a command that begins, in milliseconds. Nearly all commands need less; one that takes the router
 * minutes gets no more.
 */
const COMMAND_MS = 50;

/** How long bulk bytes yield to a short message, in milliseconds: longer than the round trip back into this process. */
const SHORT_MESSAGE_MS = 3;

/**
 * Busy sockets that may read in each millisecond of that time, each up to 256 KB: at most 2 Gbit/s for one connection and 16 for
 * many. That exceeds the uplinks of the networks that forwards lead into. Beside a saturated forward, an echo takes 9 to 12 times
 * as long as on an idle machine without the throttle and 1.5 to 1.8 times with it; the p99 of commands is 3 to 4 times as high
 * without it and 1.1 to 1.6 times with it (`npm run bench -- echo commands`, two cores).
 */
const READS_PER_MS = 8;

export interface ThrottleClock {
  /** Monotonic, in milliseconds. */
  now(): number;
  setTimeout(callback: () => void, ms: number): void;
  setImmediate(callback: () => void): void;
}

const systemClock: ThrottleClock = {
  now: () => performance.now(),
  setTimeout: (callback, ms) => void setTimeout(callback, ms),
  setImmediate: (callback) => void setImmediate(callback),
};

/**
 * Makes bulk bytes yield to commands and to short messages. A busy socket stops after a few reads and asks here when it may
 * continue: in the next turn of the event loop, or up to a millisecond later while something has priority. The pauses matter
 * because the operating system schedules a process that never sleeps behind every other busy one.
 */
export class BulkThrottle {
  readonly #clock: ThrottleClock;
  #yieldUntil = Number.NEGATIVE_INFINITY;
  /** Sockets that wait for permission to read, in order; at most one entry for each busy socket. */
  #waiting: (() => void)[] = [];

  constructor(clock: ThrottleClock = systemClock) {
    this.#clock = clock;
  }

  /** Call it when a command begins. */
  commandStarted(): void {
    this.#yieldFor(COMMAND_MS);
  }

  /** Call it when a short message passes, such as a keystroke or a small request. */
  shortMessagePassed(): void {
    this.#yieldFor(SHORT_MESSAGE_MS);
  }

  /** Calls back once when a busy socket may continue to read. */
  whenNext(readOn: () => void): void {
    if (!this.#isYielding) {
      this.#clock.setImmediate(readOn);
      return;
    }
    this.#waiting.push(readOn);
    if (this.#waiting.length === 1) this.#scheduleReads();
  }

  get #isYielding(): boolean {
    return this.#clock.now() < this.#yieldUntil;
  }

  #yieldFor(ms: number): void {
    this.#yieldUntil = Math.max(this.#yieldUntil, this.#clock.now() + ms);
  }

  #scheduleReads(): void {
    this.#clock.setTimeout(() => {
      const next = this.#waiting.splice(0, this.#isYielding ? READS_PER_MS : this.#waiting.length);
      if (this.#waiting.length > 0) this.#scheduleReads();
      for (const readOn of next) readOn();
    }, 1);
  }
}

/** One for the process, because everything in it shares one event loop. */
export const bulkThrottle = new BulkThrottle();
