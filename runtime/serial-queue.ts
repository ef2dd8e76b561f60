/**
 * Runs pieces of work one after another in the order of {@link push}, without blocking the caller. A piece starts only when the
 * one before it has ended; a failure is reported and does not stop the next piece.
 */
export class SerialQueue {
  readonly #onError: (error: unknown) => void;
  #tail: Promise<void> = Promise.resolve();
  #length = 0;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Number of pieces that wait or run. */
  get length(): number {
    return this.#length;
  }

  /** Settles when everything pushed so far has ended. */
  get idle(): Promise<void> {
    return this.#tail;
  }

  push(work: () => Promise<void>): void {
    this.#length += 1;
    this.#tail = this.#run(this.#tail, work);
  }

  async #run(ahead: Promise<void>, work: () => Promise<void>): Promise<void> {
    await ahead;
    try {
      await work();
    } catch (error) {
      this.#onError(error);
    }
    this.#length -= 1;
  }
}
