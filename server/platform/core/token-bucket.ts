/** A sustained rate (`perSecond`) and the amount allowed at once after idle time (`burst`). */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/**
 * A budget that refills with time. Taking may make it negative, because the peer's data has already been received; the
 * peer then waits until it is positive again.
 */
export class TokenBucket {
  readonly #rate: Rate;
  #level: number;
  #at: number;

  /** @param now monotonic milliseconds, as for {@link take} and {@link waitMs} */
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
