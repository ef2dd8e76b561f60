import type { Clock, Timer } from '../../../platform/core/clock.ts';

/** First pause after an offer that was declined or not answered, milliseconds. */
const FIRST_MS = 5000;
/** Longest pause. A router that comes back gets its offer at its next check-in anyway. */
const LONGEST_MS = 5 * 60_000;

interface Pause {
  failures: number;
  timer: Timer;
  /** The router did not answer its agent, so its next check-in ends the pause. */
  endsAtCheckIn: boolean;
  over: boolean;
}

/** Pauses the offers to a router after one that failed. The pause grows with every failure. */
export class BackOff {
  readonly #pauses = new Map<string, Pause>();
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #onOver: (routerId: string) => void;

  constructor(options: { clock: Clock; random: () => number; onOver: (routerId: string) => void }) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#onOver = options.onOver;
  }

  failed(routerId: string, options: { endsAtCheckIn: boolean }): void {
    const before = this.#pauses.get(routerId);
    before?.timer.cancel();
    const failures = (before?.failures ?? 0) + 1;
    const longest = Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
    // Half of the pause is random, so that a fleet does not retry in step.
    const timer = this.#clock.setTimeout(() => this.#end(routerId), longest * (0.5 + this.#random() / 2));
    this.#pauses.set(routerId, { failures, timer, endsAtCheckIn: options.endsAtCheckIn, over: false });
  }

  succeeded(routerId: string): void {
    this.#pauses.get(routerId)?.timer.cancel();
    this.#pauses.delete(routerId);
  }

  /** The router has just answered its agent. */
  checkedIn(routerId: string): void {
    if (this.#pauses.get(routerId)?.endsAtCheckIn === true) this.succeeded(routerId);
  }

  isPaused(routerId: string): boolean {
    return this.#pauses.get(routerId)?.over === false;
  }

  stop(): void {
    for (const pause of this.#pauses.values()) pause.timer.cancel();
    this.#pauses.clear();
  }

  /** The number of failures is kept until an offer succeeds, so that the pauses grow. */
  #end(routerId: string): void {
    const pause = this.#pauses.get(routerId);
    if (pause) pause.over = true;
    this.#onOver(routerId);
  }
}
