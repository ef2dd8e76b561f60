import { Duplex } from 'node:stream';

const BUFFER_BYTES = 64 * 1024;

export interface LegOwner {
  /** Output of the shell. Calls `done` when more may come. */
  output(bytes: Buffer, done: () => void): void;
  /** The next bytes for the shell; undefined when there are none now. */
  takeInput(): Buffer | undefined;
}

/** A terminal as one connection of its channel sees it: written to with the shell's output, read for its input. */
export class TerminalLeg extends Duplex {
  readonly #owner: LegOwner;
  #isWanted = false;
  /** The shell has ended and all of its output has arrived. */
  isComplete = false;

  constructor(owner: LegOwner) {
    super({ allowHalfOpen: true, readableHighWaterMark: BUFFER_BYTES, writableHighWaterMark: BUFFER_BYTES });
    this.#owner = owner;
  }

  /** There is new input. */
  pump(): void {
    while (this.#isWanted && !this.destroyed) {
      const bytes = this.#owner.takeInput();
      if (bytes === undefined) return;
      this.#isWanted = this.push(bytes);
    }
  }

  override _read(): void {
    this.#isWanted = true;
    this.pump();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // The bytes are in a buffer that is used again.
    this.#owner.output(Buffer.from(chunk), () => done());
  }

  override _final(done: (error?: Error | null) => void): void {
    this.isComplete = true;
    done();
    // Nothing more can be typed into a shell that has ended.
    this.push(null);
  }
}
