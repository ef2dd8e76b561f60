import { Duplex } from 'node:stream';
import type { ChannelSocket } from '../../../../protocol/index.ts';

const BUFFER_BYTES = 64 * 1024;

/**
 * One TCP connection inside a WebSocket: binary messages are its bytes, an empty message is the half-close of its
 * direction. Reading pauses while the bytes are not consumed; a write is done when the kernel has it. Destroying the stream
 * leaves the WebSocket open, so that its owner can close it with a code that says why.
 */
export class WebSocketStream extends Duplex {
  readonly #ws: ChannelSocket;
  #halfClosed = false;

  constructor(ws: ChannelSocket) {
    super({ allowHalfOpen: true, readableHighWaterMark: BUFFER_BYTES, writableHighWaterMark: BUFFER_BYTES });
    this.#ws = ws;
    ws.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary));
    ws.on('close', () => this.destroy());
    // The close event follows and is handled.
    ws.on('error', () => undefined);
  }

  /** The client sees a reset as a close code other than 1000. */
  resetAndDestroy(): this {
    return this.destroy();
  }

  override _read(): void {
    this.#ws.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#ws.send(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#ws.send(Buffer.alloc(0), done);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.destroyed) return;
    if (!isBinary || this.#halfClosed) {
      this.destroy();
    } else if (data.length === 0) {
      this.#halfClosed = true;
      this.push(null);
      // No more data is expected, but the close of the WebSocket must be detected.
      this.#ws.resume();
    } else if (!this.push(data)) {
      this.#ws.pause();
    }
  }
}
