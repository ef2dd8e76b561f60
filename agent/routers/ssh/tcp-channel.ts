import { Duplex } from 'node:stream';
import type { ClientChannel } from 'ssh2';

type Done = (error?: Error | null) => void;

/** Buffered here beside what ssh2 keeps (its window is 2 MB): enough to keep both sides busy. */
const HIGH_WATER_MARK = 64 * 1024;

/**
 * A direct-tcpip channel as an ordinary Duplex. ssh2's own stream never calls back a write after the peer has
 * closed, shows a lost connection as an ordinary end, and does not destroy; this one does all three right.
 * Half-close is kept: `end()` sends EOF and reading goes on.
 */
export class TcpChannel extends Duplex {
  readonly #channel: ClientChannel;
  readonly #gather: () => void;
  #writing: Done | undefined;
  #closed = false;

  /** @param gather has what is written to the connection from now on leave together, at the end of this turn */
  constructor(channel: ClientChannel, gather: () => void) {
    super({ allowHalfOpen: true, highWaterMark: HIGH_WATER_MARK });
    this.#channel = channel;
    this.#gather = gather;
    channel.on('data', (chunk: Buffer) => {
      if (!this.destroyed && !this.push(chunk)) channel.pause();
    });
    channel.on('end', () => {
      this.push(null);
    });
    channel.on('close', () => {
      this.#onClose();
    });
    channel.on('error', (error: Error) => {
      this.destroy(error);
    });
    // Nothing comes on it for a forwarded connection, but unread it would hold up the channel's end.
    channel.stderr.resume();
    channel.stderr.on('error', (error: Error) => {
      this.destroy(error);
    });
  }

  override _read(): void {
    this.#channel.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#writing = done;
    this.#gather();
    this.#channel.write(chunk, (error) => {
      this.#written(error);
    });
  }

  override _final(done: Done): void {
    if (this.#closed) done();
    // EOF is out when this calls back. Sooner, the close that follows could overtake it.
    else this.#channel.end(() => done());
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#written(error ?? closedError());
    // ssh2's destroy() would first flush what is written; a reset must not wait for a peer that does not read.
    if (!this.#closed) this.#channel.close();
    this.#channel.resume();
    done(error);
  }

  #written(error?: Error | null): void {
    const done = this.#writing;
    this.#writing = undefined;
    done?.(error);
  }

  /** The peer takes and sends nothing any more. What was received stays readable. */
  #onClose(): void {
    this.#closed = true;
    this.#written(closedError());
    if (this.readableEnded || this.destroyed) this.destroy();
    else this.once('end', () => this.destroy());
  }
}

function closedError(): Error {
  return Object.assign(new Error('the target closed the connection'), { code: 'ECONNRESET' });
}
