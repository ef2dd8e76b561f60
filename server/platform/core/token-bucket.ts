/** How fast something may go on (`perSecond`), and how much of it may come at once after a quiet time (`burst`). */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/**
 * A budget that refills with time. Taking may lead below zero, because what a peer sent has been received by then; the
 * peer then waits until the bucket holds something again.
 */
export class TokenBucket {
  readonly #rate: Rate;
  #level: number;
  #at: number;

  /** @param now milliseconds of a clock that nobody sets, as for {@link take} and {@link waitMs} */
  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#level = rate.burst;
    this.#at = now;
  }

  take(amount: number, now: number): void {
    this.#refill(now);
    this.#level -= amount;
  }

  /** Milliseconds until there is something to spend again, 0 when there is. */
  waitMs(now: number): number {
    this.#refill(now);
    return this.#level > 0 ? 0 : Math.max(1, Math.ceil((-this.#level / this.#rate.perSecond) * 1000));
  }

  #refill(now: number): void {
    this.#level = Math.min(this.#rate.burst, this.#level + ((now - this.#at) / 1000) * this.#rate.perSecond);
    this.#at = now;
  }
}
