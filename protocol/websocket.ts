import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { MAX_CHANNEL_MESSAGE_BYTES, MAX_CHANNEL_TEXT_BYTES } from './channel-socket.ts';
import type { ChannelSocket } from './channel-socket.ts';
import type { Release } from '../runtime/pooled-reads.ts';
import { CLOSE_CODE, FrameReader, OPCODE, applyMask, frameHeader } from './websocket-frames.ts';

/** A closing handshake that the other side does not finish is cut after this time, in milliseconds. */
const CLOSE_TIMEOUT_MS = 2000;

/** Up to this size copying costs less than a vectored write. */
const SHORT_BYTES = 1024;

/** With this many unsent bytes, the peer's pings are no longer answered. */
const MAX_BUFFERED_FOR_PONG = 64 * 1024;

type Sent = (error?: Error) => void;
/** The same as Node's streams declare it. */
type StreamCallback = ((error: Error | null | undefined) => void) | undefined;

export interface StreamingWebSocketOptions {
  /** Which end of the connection this is: the client masks what it sends. */
  role: 'server' | 'client';
  /** Whether the client's mask may be all zeros: under TLS and on loopback there is no plain-text proxy. */
  plainMask: boolean;
}

/**
 * A WebSocket for channels on an upgraded connection. It delivers binary messages piece by piece as they arrive. It has no
 * extensions and limits the length of text messages.
 */
export class StreamingWebSocket extends EventEmitter implements ChannelSocket {
  readonly #stream: Duplex;
  readonly #options: StreamingWebSocketOptions;
  readonly #reader: FrameReader;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #closeSent = false;
  #code: number = CLOSE_CODE.abnormal;
  #reason = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  /** Lease of the chunk that is being read now. */
  #lease: Lease | undefined;

  /** Takes over the stream; `head` is what was read beyond the handshake. Attach handlers in the same turn of the event loop. */
  constructor(stream: Duplex, head: Buffer, options: StreamingWebSocketOptions) {
    super();
    this.#stream = stream;
    this.#options = options;
    this.#reader = this.#createReader();
    if (head.length > 0) stream.unshift(head);
    stream.on('data', (chunk: Buffer, release?: Release) => this.#read(chunk, release));
    stream.on('end', () => this.#stream.end());
    stream.on('error', (error) => this.#report(error));
    stream.on('close', () => this.#streamClosed());
    stream.resume();
  }

  get bufferedAmount(): number {
    return this.#stream.writableLength;
  }

  send(data: string | Buffer, sent?: Sent): void {
    if (this.#state !== 'open') sent?.(new Error('the WebSocket is not open'));
    else if (typeof data === 'string') this.#write(OPCODE.text, Buffer.from(data), sent);
    else this.#write(OPCODE.binary, data, sent);
  }

  ping(): void {
    if (this.#state === 'open') this.#write(OPCODE.ping, Buffer.alloc(0));
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  close(code: number = CLOSE_CODE.normal, reason = ''): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#sendClose(code, Buffer.from(reason));
    this.#stream.resume();
  }

  terminate(): void {
    this.#state = 'closed';
    this.#stream.destroy();
  }

  #createReader(): FrameReader {
    const limits = { binaryBytes: MAX_CHANNEL_MESSAGE_BYTES, textBytes: MAX_CHANNEL_TEXT_BYTES };
    return new FrameReader(
      {
        onBinary: (piece) => this.emit('message', piece, true, this.#hold),
        onText: (data) => this.emit('message', data, false),
        onPing: (data) => {
          // A peer that pings without reading must not grow the process.
          if (this.#state === 'open' && this.bufferedAmount <= MAX_BUFFERED_FOR_PONG) this.#write(OPCODE.pong, data);
          this.emit('ping', data);
        },
        onPong: (data) => this.emit('pong', data),
        onClose: (code, reason) => this.#closeReceived(code, reason),
        onViolation: (code, what) => this.#violation(code, what),
      },
      limits,
      { expectMask: this.#options.role === 'server' },
    );
  }

  /** Gives the buffer back when the reader and all holders of its pieces have finished. */
  #read(chunk: Buffer, release: Release | undefined): void {
    const lease = release === undefined ? undefined : new Lease(release);
    this.#lease = lease;
    this.#reader.push(chunk);
    this.#lease = undefined;
    lease?.drop();
  }

  readonly #hold = (): Release | undefined => this.#lease?.take();

  /** Header and payload leave in one system call: a short payload is copied behind its header, a long one is not. */
  #write(opcode: number, payload: Buffer, sent?: Sent): void {
    const masks = this.#options.role === 'client';
    const header = frameHeader(opcode, payload.length, masks);
    const body = masks && !this.#options.plainMask ? masked(header, payload) : payload;
    if (body.length <= SHORT_BYTES) {
      this.#stream.write(body.length === 0 ? header : Buffer.concat([header, body]), sent as StreamCallback);
      return;
    }
    this.#stream.cork();
    this.#stream.write(header);
    this.#stream.write(body, sent as StreamCallback);
    this.#stream.uncork();
  }

  /** Sends a close frame once, then waits a limited time for the other side. */
  #sendClose(code: number, reason: Buffer): void {
    if (this.#closeSent) return;
    this.#closeSent = true;
    const body = Buffer.alloc(2 + reason.length);
    body.writeUInt16BE(code === CLOSE_CODE.noStatus ? CLOSE_CODE.normal : code);
    reason.copy(body, 2);
    this.#write(OPCODE.close, body.subarray(0, 125));
    this.#timer = setTimeout(() => this.terminate(), CLOSE_TIMEOUT_MS).unref();
  }

  #closeReceived(code: number, reason: Buffer): void {
    this.#code = code;
    this.#reason = Buffer.from(reason);
    this.#state = 'closing';
    this.#sendClose(code, Buffer.alloc(0));
    this.#stream.end();
  }

  #violation(code: number, what: string): void {
    this.#report(new Error(what));
    this.#code = code;
    this.#state = 'closing';
    this.#sendClose(code, Buffer.from(what));
    this.#stream.end();
  }

  /** `close` always follows, so listening for `error` is optional. */
  #report(error: Error): void {
    if (this.listenerCount('error') > 0) this.emit('error', error);
  }

  #streamClosed(): void {
    clearTimeout(this.#timer);
    this.#state = 'closed';
    this.emit('close', this.#code, this.#reason);
  }
}

/** Counts the users of a chunk's buffer. */
class Lease {
  readonly #release: Release;
  #count = 1;
  readonly drop = (): void => {
    this.#count -= 1;
    if (this.#count === 0) this.#release();
  };

  constructor(release: Release) {
    this.#release = release;
  }

  take(): Release {
    this.#count += 1;
    return this.drop;
  }
}

/** Fills in a random key and returns the payload masked with it; the caller's bytes stay as they are. */
function masked(header: Buffer, payload: Buffer): Buffer {
  const key = crypto.getRandomValues(header.subarray(header.length - 4));
  const copy = Buffer.from(payload);
  applyMask(copy, key, 0);
  return copy;
}
