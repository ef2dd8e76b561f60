import { FewSet } from '../core/few.ts';

interface Reader {
  pause(): void;
  resume(): void;
}

/** Pauses reading from a socket while at least one reason holds it. */
export class ReadGate {
  readonly #reader: Reader;
  readonly #holders = new FewSet<string>();

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

  /** A reader that pauses and resumes for one reason. */
  as(reason: string): Reader {
    return { pause: () => this.hold(reason), resume: () => this.release(reason) };
  }
}
