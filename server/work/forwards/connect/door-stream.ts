import { Duplex } from 'node:stream';
import type { ChannelSocket } from '../../../../protocol/index.ts';

const BUFFER_BYTES = 64 * 1024;

/**
 * One TCP connection as the client of a WebSocket has it: binary messages are its bytes, an empty one is the half-close
 * of its direction. Reads stop while nobody takes the bytes, and a write is done when the kernel has it. Destroying it
 * leaves the WebSocket open, so that its owner can say why with a close code.
 */
export class DoorStream extends Duplex {
  readonly #ws: ChannelSocket;
  #halfClosed = false;

  constructor(ws: ChannelSocket) {
    super({ allowHalfOpen: true, readableHighWaterMark: BUFFER_BYTES, writableHighWaterMark: BUFFER_BYTES });
    this.#ws = ws;
    ws.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary));
    ws.on('close', () => this.destroy());
    // The close event follows and says all that is needed.
    ws.on('error', () => undefined);
  }

  /** To its client a reset is a close code other than 1000. */
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
      // Nothing reads it any more, but the end of the WebSocket must be seen.
      this.#ws.resume();
    } else if (!this.push(data)) {
      this.#ws.pause();
    }
  }
}
