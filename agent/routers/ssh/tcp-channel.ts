import { Duplex } from 'node:stream';
import type { ClientChannel } from 'ssh2';

type Done = (error?: Error | null) => void;

/** Bytes buffered here besides ssh2's window of 2 MB: enough to keep both sides busy. */
const HIGH_WATER_MARK = 64 * 1024;

/**
 * A direct-tcpip channel as a normal Duplex. It fixes three defects of ssh2's own stream, which never calls back a write after the
 * peer has closed, shows a lost connection as a normal end, and does not destroy. Supports half-close: `end()` sends EOF and
 * reading continues.
 */
export class TcpChannel extends Duplex {
  readonly #channel: ClientChannel;
  readonly #gather: () => void;
  #writing: Done | undefined;
  #closed = false;

  /** @param gather sends everything written to the connection from now on together, at the end of this turn */
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
    // A forwarded connection has no stderr data, but the channel ends only when stderr is read.
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
    // Calls back once EOF is sent; earlier, the following close could overtake it.
    else this.#channel.end(() => done());
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#written(error ?? closedError());
    // ssh2's destroy() would flush first; a reset must not wait for a peer that does not read.
    if (!this.#closed) this.#channel.close();
    this.#channel.resume();
    done(error);
  }

  #written(error?: Error | null): void {
    const done = this.#writing;
    this.#writing = undefined;
    done?.(error);
  }

  /** The peer has closed the channel. Received data stays readable. */
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
