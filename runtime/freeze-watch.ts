import { performance } from 'node:perf_hooks';
import { systemTimers } from './timers.ts';
import type { Timer, Timers } from './timers.ts';

/** A process that others may replace is replaced after 10 s; three of them are reserve. */
const LIMIT_MS = 7000;
const TICK_MS = 1000;

/** Monotonic milliseconds: they pass also while the process is frozen. */
export interface FreezeClock extends Timers {
  now(): number;
}

/**
 * Notices that this process stood still (SIGSTOP, a virtual machine that was paused, a blocked event loop) for so long that others may have
 * decided in its place. What arrived meanwhile waits in the kernel and is delivered before any timer fires, so whoever passes bytes on asks here.
 */
export class FreezeWatch {
  readonly #clock: FreezeClock;
  #watchers = 0;
  /** When the event loop was last seen to turn. */
  #turnedAt = 0;
  #noticedAt: number | undefined;
  #tick: Timer | undefined;

  constructor(clock: FreezeClock = { ...systemTimers, now: () => performance.now() }) {
    this.#clock = clock;
  }

  /** For a process that others can replace. @returns what ends the watch */
  watch(): () => void {
    this.#watchers += 1;
    if (this.#watchers === 1) {
      this.#turnedAt = this.#clock.now();
      this.#schedule();
    }
    return () => {
      this.#watchers -= 1;
      if (this.#watchers > 0) return;
      this.#tick?.cancel();
      this.#noticedAt = undefined;
    };
  }

  /** Whether this process stood still for over 7 s, and does not know yet whether it still counts. */
  get hasFrozen(): boolean {
    if (this.#watchers === 0) return false;
    if (this.#noticedAt !== undefined) return true;
    const now = this.#clock.now();
    if (now - this.#turnedAt <= LIMIT_MS) return false;
    this.#noticedAt = now;
    return true;
  }

  /** The others still count on this process. @param askedAtMs when that was asked: an answer to an earlier question waited in the kernel, too */
  stillCounts(askedAtMs: number): void {
    if (this.hasFrozen && askedAtMs >= this.#noticedAt!) this.#noticedAt = undefined;
    // Otherwise the same pause would be noticed again until the next tick.
    if (this.#noticedAt === undefined) this.#turnedAt = this.#clock.now();
  }

  #schedule(): void {
    this.#tick = this.#clock.setTimeout(() => {
      if (!this.hasFrozen) this.#turnedAt = this.#clock.now();
      this.#schedule();
    }, TICK_MS);
  }
}

/** Of this process. */
export const freezeWatch = new FreezeWatch();
