import { performance } from 'node:perf_hooks';

/**
 * How long a command that begins goes before bulk bytes, in milliseconds: what nearly all commands need, and no more for
 * one that the router takes minutes for.
 */
const COMMAND_MS = 50;

/** The same for a few bytes of a conversation: longer than their way to the other side and back into this process. */
const SHORT_MESSAGE_MS = 3;

/**
 * In that time so many busy sockets may read on in each millisecond, each up to 256 KB: at most 2 Gbit/s for one connection
 * and 16 for many, which is more than the lines of the networks that forwards lead into. Without it an echo beside a saturated
 * forward takes 9 to 12 times as long as on a quiet machine, and the p99 of commands is 3 to 4 times as high; with it 1.5 to
 * 1.8 and 1.1 to 1.6 times (`npm run bench -- echo commands`, two cores).
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
 * Bulk bytes give way to commands and to short messages. A busy socket stops after a few reads and asks here when it may go
 * on: in the next turn of the event loop, or up to a millisecond later while something goes before it. The pauses are what
 * helps: a process that never sleeps waits for its turn behind every other busy one each time something arrives.
 */
export class BulkThrottle {
  readonly #clock: ThrottleClock;
  #yieldUntil = Number.NEGATIVE_INFINITY;
  /** Who waits to read on, in the order of asking; as many as there are busy sockets at most. */
  #waiting: (() => void)[] = [];

  constructor(clock: ThrottleClock = systemClock) {
    this.#clock = clock;
  }

  /** A command begins its way through this process. */
  commandStarted(): void {
    this.#yieldFor(COMMAND_MS);
  }

  /** A few bytes of a conversation pass: what somebody types, a small request. */
  shortMessagePassed(): void {
    this.#yieldFor(SHORT_MESSAGE_MS);
  }

  /** Calls back once when a busy socket may read on. */
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

/** One for the process, because what passes through it shares one event loop. */
export const bulkThrottle = new BulkThrottle();
