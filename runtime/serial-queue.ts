/**
 * Work done one piece after the other in the order it came, while the receive handler goes on. A piece never
 * starts before the one ahead has ended; one that fails is reported and does not stop the next.
 */
export class SerialQueue {
  readonly #onError: (error: unknown) => void;
  #tail: Promise<void> = Promise.resolve();
  #length = 0;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Pieces waiting or running. */
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
