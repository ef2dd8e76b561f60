import { Duplex } from 'node:stream';
import type { ByteRing } from '../../runtime/byte-ring.ts';

/** One piece of output: a short message of the tunnel, so that nothing waits long behind it. */
const PIECE_BYTES = 16 * 1024;

export interface LegOwner {
  readonly history: ByteRing;
  /** Nothing follows what the history holds. */
  readonly isOver: boolean;
  /** Calls `done` when the shell has taken the bytes. */
  input(bytes: Buffer, done: (error?: Error | null) => void): void;
  /** Output before this offset was handed to the channel. */
  sent(upTo: number): void;
}

/** A shell as one channel sees it: its output from an offset on, and its input. Several legs follow each other. */
export class ShellLeg extends Duplex {
  readonly #owner: LegOwner;
  #at: number;
  #isWanted = false;

  constructor(owner: LegOwner, from: number) {
    super({ allowHalfOpen: true, readableHighWaterMark: PIECE_BYTES, writableHighWaterMark: PIECE_BYTES });
    this.#owner = owner;
    this.#at = from;
  }

  /** There is more output, or its end. */
  pump(): void {
    const { history } = this.#owner;
    while (this.#isWanted && !this.destroyed) {
      const piece = history.read(this.#at, PIECE_BYTES);
      if (piece.length === 0) {
        if (this.#owner.isOver) this.#end();
        return;
      }
      this.#at += piece.length;
      this.#isWanted = this.push(piece);
      this.#owner.sent(this.#at);
    }
  }

  override _read(): void {
    this.#isWanted = true;
    this.pump();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // The bytes are in a buffer that is used again, and the shell may take them later.
    this.#owner.input(Buffer.from(chunk), done);
  }

  #end(): void {
    this.#isWanted = false;
    this.push(null);
  }
}
