interface Reader {
  pause(): void;
  resume(): void;
}

/** Several reasons not to read one socket: it is read again when none of them is left. */
export class Valve {
  readonly #reader: Reader;
  readonly #holders = new Set<string>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** True while the socket is not read. */
  get isClosed(): boolean {
    return this.#holders.size > 0;
  }

  hold(reason: string): void {
    if (this.#holders.size === 0) this.#reader.pause();
    this.#holders.add(reason);
  }

  release(reason: string): void {
    if (this.#holders.delete(reason) && this.#holders.size === 0) this.#reader.resume();
  }

  /** One reason as a reader of its own. */
  as(reason: string): Reader {
    return { pause: () => this.hold(reason), resume: () => this.release(reason) };
  }
}
