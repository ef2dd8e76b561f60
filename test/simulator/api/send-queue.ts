import type { Socket } from 'node:net';
import { encodeSentence } from './words.ts';

/** Rows wait above this many queued bytes until the client has read some. */
const HIGH_WATER_BYTES = 256 * 1024;

/** Sends sentences in order; one byte to a segment where a test wants it so. */
export class SendQueue {
  readonly #socket: Socket;
  readonly #split: () => boolean;
  readonly #muted: () => boolean;
  #queue: Buffer[] = [];
  #queued = 0;
  #flushing: Promise<void> | undefined;
  #stopped = false;
  #held = false;

  constructor(socket: Socket, options: { split: () => boolean; muted: () => boolean }) {
    this.#socket = socket;
    this.#split = options.split;
    this.#muted = options.muted;
  }

  send(words: readonly string[]): void {
    if (!this.#muted()) this.sendBytes(encodeSentence(words));
  }

  sendBytes(bytes: Buffer): void {
    if (this.#stopped) return;
    this.#queue.push(bytes);
    this.#queued += bytes.length;
    this.#flushing ??= this.#flush();
  }

  /** Resolves when there is room for more, at once if there is. */
  async ready(): Promise<void> {
    while (this.#queued > HIGH_WATER_BYTES && this.#flushing) await this.#flushing;
  }

  /** Resolves when everything queued is with the operating system. */
  async drained(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  /** Keeps everything back, as a firewall does that drops the packets, until it is released. */
  hold(held: boolean): void {
    this.#held = held;
    if (!held && this.#queue.length > 0) this.#flushing ??= this.#flush();
  }

  /** Stops sending. */
  stop(): void {
    this.#stopped = true;
    this.#queue = [];
    this.#queued = 0;
  }

  async #flush(): Promise<void> {
    // Everything sent in one turn of the event loop goes out together.
    await Promise.resolve();
    while (this.#queue.length > 0 && !this.#stopped && !this.#held) {
      const bytes = Buffer.concat(this.#queue);
      this.#queue = [];
      if (this.#split()) await this.#writeBytewise(bytes);
      else await this.#write(bytes);
      this.#queued = this.#queue.reduce((sum, part) => sum + part.length, 0);
    }
    this.#flushing = undefined;
  }

  async #writeBytewise(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length && !this.#stopped; at += 1) {
      await this.#write(bytes.subarray(at, at + 1));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #write(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.destroyed || !this.#socket.writable) resolve();
      // The callback also runs, with an error, when the socket is destroyed before.
      else this.#socket.write(bytes, () => resolve());
    });
  }
}
