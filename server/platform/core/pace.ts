/**
 * Keeps the rounds of a loop apart, so that each has the work of some time. The first round after a pause waits for nothing. In time of this
 * process, also under a test's clock: it paces work, and nothing that a user sees goes by it.
 */
export class Pace {
  readonly #apartMs: number;
  #nextAt = Number.NEGATIVE_INFINITY;
  #isHurried = false;
  #wake: (() => void) | undefined;

  /** @param apartMs from the start of one round to the start of the next, milliseconds */
  constructor(apartMs: number) {
    this.#apartMs = apartMs;
  }

  /** Resolves when the next round may begin. For one loop. */
  async next(): Promise<void> {
    const leftMs = this.#nextAt - performance.now();
    if (leftMs > 1 && !this.#isHurried) await this.#wait(leftMs);
    this.#isHurried = false;
    this.#nextAt = performance.now() + this.#apartMs;
  }

  /** The next round begins at once. */
  hurry(): void {
    this.#isHurried = true;
    this.#wake?.();
  }

  async #wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
    clearTimeout(timer);
  }
}
