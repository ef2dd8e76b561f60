import type { Clock as AgentClock } from '../../agent/core/clock.ts';
import type { Clock, Timer } from '../../server/platform/core/clock.ts';

interface PendingTimer {
  at: number;
  callback: () => void;
}

/** A clock that stands still until the test advances it. */
export class ManualClock implements Clock, AgentClock {
  #now: number;
  readonly #startedAt: number;
  #steppedBy = 0;
  #suspendedFor = 0;
  readonly #timers = new Set<PendingTimer>();

  constructor(now = 1_700_000_000_000) {
    this.#now = now;
    this.#startedAt = now;
  }

  now(): number {
    return this.#now + this.#steppedBy + this.#suspendedFor;
  }

  monotonic(): number {
    return this.#now - this.#startedAt;
  }

  sinceBoot(): number {
    return this.monotonic() + this.#suspendedFor;
  }

  /** Suspends the machine for this time: time passes, but its timers do not run. */
  suspend(ms: number): void {
    this.#suspendedFor += ms;
  }

  /** Sets the wall clock, as NTP does; no time passes. */
  step(ms: number): void {
    this.#steppedBy += ms;
  }

  setTimeout(callback: () => void, ms: number): Timer {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.delete(timer) };
  }

  /** Moves on by `ms`, firing what falls due, in order and each at its own moment. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = end;
  }

  /** Milliseconds until the next timer; without one, Infinity. */
  get untilNext(): number {
    return Math.min(...[...this.#timers].map(({ at }) => at - this.#now));
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }
}
