import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { bulkThrottle } from '../runtime/bulk-throttle.ts';
import type { Hold } from './channel-socket.ts';
import { adoptWithPooledReads } from '../runtime/pooled-reads.ts';
import type { Release } from '../runtime/pooled-reads.ts';

/** How a connection ended, seen from the side that reports it. */
export type ConnectionEnd =
  /** Both directions were half-closed and everything was delivered. */
  | 'finished'
  /** The socket on this side broke or was reset. */
  | 'local_reset'
  /** The other side of the channel reset it. */
  | 'peer_reset'
  /** This program ended it with {@link ChannelConnection.cut}. */
  | 'cut'
  /** The channel's WebSocket went away. */
  | 'channel_lost';

/** The channel as a connection sees it. Every call of a connection that is over is ignored by the channel. */
export interface ConnectionPort {
  /** `release` is called when the bytes are out of its hands. */
  sendBytes(connection: ChannelConnection, chunk: Buffer, release: Release | undefined): void;
  /** True when no more bytes should be handed in until {@link ChannelConnection.drained}. */
  isFull(connection: ChannelConnection): boolean;
  sendEnd(connection: ChannelConnection): void;
  sendReset(connection: ChannelConnection, reason: string): void;
  /** Stops or continues reading from the channel. */
  setPaused(connection: ChannelConnection, paused: boolean): void;
}

/**
 * Most bytes that wait for a slow destination before the channel is no longer read. Two reads of a busy socket fit,
 * and a thousand stalled connections cost 256 MB at worst.
 */
const HIGH_WATER_BYTES = 256 * 1024;

/**
 * A connection that has sent so much is bulk and gets pooled reads. Not before: they cost a new connection as much as
 * all the rest of it.
 */
const BULK_BYTES = 256 * 1024;

/** What a person types or a small request: it is on its way before anything else is done. */
const SHORT_BYTES = 4096;

/** A piece up to this length is copied out of the buffer in which it arrived. */
const COPIED_BYTES = 512;

const NOTHING = Buffer.alloc(0);

/** A stream that can send a TCP RST; net.Socket can, an SSH channel cannot. */
interface Resettable {
  resetAndDestroy(): unknown;
}

/** One TCP connection on a channel: moves bytes between a stream and the channel until both directions have ended. */
export class ChannelConnection {
  readonly n: number;
  /** Bytes read from the stream and handed to the channel. */
  bytesSent = 0;
  /** Bytes received from the channel for the stream. */
  bytesReceived = 0;
  readonly #port: ConnectionPort;
  #stream: Duplex | undefined;
  /** What arrived before the stream was there: the target is still being dialled. */
  #early: { piece: Buffer; release: Release | undefined }[] = [];
  #earlyBytes = 0;
  #peerEnded = false;
  #readEnded = false;
  #corked = false;
  #end: ConnectionEnd | undefined;
  #reported = false;
  #bulkFrom = BULK_BYTES;
  #onClosed: ((end: ConnectionEnd) => void) | undefined;

  constructor(port: ConnectionPort, n: number) {
    this.#port = port;
    this.n = n;
  }

  /** Calls back once when the connection is over and its stream, if it has one, is closed. */
  whenClosed(callback: (end: ConnectionEnd) => void): void {
    this.#onClosed = callback;
    this.#report();
  }

  /** Over, though the stream may still be flushing. */
  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** Starts moving bytes. The stream must keep half-close (`allowHalfOpen`) and belongs to the connection from here on. */
  attach(stream: Duplex): void {
    this.#stream = stream;
    this.#listen(stream);
    // It broke while nobody listened: its events will not come again.
    if (stream.destroyed) this.#fail('local_reset', 'connection broken');
    if (this.#end !== undefined) {
      abort(stream);
      this.#report();
      return;
    }
    for (const { piece, release } of this.#early) this.#write(stream, piece, release);
    this.#early = [];
    this.#port.setPaused(this, stream.writableLength >= HIGH_WATER_BYTES);
    if (this.#peerEnded) stream.end();
    // A client that had nothing more to say while it waited: that event will not come again either.
    if (stream.readableEnded) this.#onEnd();
    stream.resume();
  }

  /** Ends the connection at once on both sides; a TCP client sees a reset. `reason` is shown on the other side. */
  cut(reason: string): void {
    this.#fail('cut', reason);
  }

  /** From the channel: bytes for the stream. */
  receiveBytes(piece: Buffer, hold: Hold | undefined): void {
    this.bytesReceived += piece.length;
    const [bytes, release] = kept(piece, hold);
    if (this.#stream) {
      this.#write(this.#stream, bytes, release);
      if (this.#stream.writableLength >= HIGH_WATER_BYTES) this.#port.setPaused(this, true);
      return;
    }
    this.#early.push({ piece: bytes, release });
    this.#earlyBytes += piece.length;
    if (this.#earlyBytes >= HIGH_WATER_BYTES) this.#port.setPaused(this, true);
  }

  /** From the channel: the other side sends nothing more. */
  receiveEnd(): void {
    this.#peerEnded = true;
    this.#stream?.end();
  }

  /** From the channel: the other side reset the connection. */
  receiveReset(): void {
    this.#fail('peer_reset', '');
  }

  /** From the channel: its WebSocket is gone. */
  lost(): void {
    this.#fail('channel_lost', '');
  }

  /** From the channel: bytes may be handed in again. */
  drained(): void {
    if (!this.#readEnded) this.#stream?.resume();
  }

  /**
   * From the channel, now and then: a socket that is not read does not show that its far end has reset it, but writing
   * nothing to it does. Otherwise a client that gave up on a target that stalls would be carried until the target moves.
   */
  detectReset(): void {
    const stream = this.#stream;
    if (stream instanceof Socket && stream.isPaused() && stream.writable && stream.writableLength === 0) stream.write(NOTHING);
  }

  readonly #onData = (chunk: Buffer, release?: Release): void => {
    this.bytesSent += chunk.length;
    // A socket with pooled reads tells the pace itself.
    if (!release && chunk.length <= SHORT_BYTES) bulkThrottle.shortMessagePassed();
    this.#port.sendBytes(this, chunk, release);
    if (this.#port.isFull(this)) this.#stream?.pause();
    if (this.bytesSent < this.#bulkFrom) return;
    this.#bulkFrom = this.bytesSent + BULK_BYTES;
    // Not inside the socket's own event: what is exchanged then is under its feet.
    setImmediate(() => this.#usePooledReads());
  };

  readonly #onEnd = (): void => {
    this.#readEnded = true;
    this.#port.sendEnd(this);
  };

  readonly #onDrain = (): void => this.#port.setPaused(this, false);
  readonly #onError = (): void => this.#fail('local_reset', 'connection broken');

  /** Exchanges the stream for the same connection with pooled reads, in a moment in which nothing is under way on it. */
  #usePooledReads(): void {
    const old = this.#stream;
    if (!(old instanceof Socket) || this.#end !== undefined || this.#readEnded || this.#peerEnded) return;
    // A paused socket may have seen its end without having said so.
    if (old.writableLength > 0 || old.readableLength > 0 || old.readableFlowing !== true) return;
    const pooled = adoptWithPooledReads(old);
    this.#bulkFrom = Infinity;
    if (pooled === old) return;
    this.#unlisten(old);
    this.#listen(pooled);
    this.#stream = pooled;
    if (!this.#port.isFull(this)) pooled.resume();
  }

  #listen(stream: Duplex): void {
    stream.on('error', this.#onError).on('close', this.#onClose);
    stream.on('data', this.#onData).on('end', this.#onEnd).on('drain', this.#onDrain);
  }

  #unlisten(stream: Duplex): void {
    stream.off('error', this.#onError).off('close', this.#onClose);
    stream.off('data', this.#onData).off('end', this.#onEnd).off('drain', this.#onDrain);
  }

  /** Pieces of a long message that arrive in one read leave in one system call; a short one leaves at once. */
  #write(stream: Duplex, piece: Buffer, release: Release | undefined): void {
    if (!this.#corked && piece.length > SHORT_BYTES) {
      this.#corked = true;
      stream.cork();
      process.nextTick(() => {
        this.#corked = false;
        stream.uncork();
      });
    }
    stream.write(piece, release);
  }

  #fail(end: ConnectionEnd, reason: string): void {
    if (this.#end !== undefined) {
      if (this.#stream) abort(this.#stream);
      return;
    }
    this.#end = end;
    this.#early = [];
    if (end === 'local_reset' || end === 'cut') this.#port.sendReset(this, reason);
    if (this.#stream) abort(this.#stream);
    else this.#report();
  }

  readonly #onClose = (): void => {
    const finished = this.#readEnded && this.#peerEnded;
    if (this.#end === undefined && !finished) this.#fail('local_reset', 'connection broken');
    this.#end ??= 'finished';
    this.#report();
  };

  #report(): void {
    if (this.#end === undefined || this.#reported || !this.#onClosed) return;
    if (this.#stream && !this.#stream.closed) return;
    this.#reported = true;
    this.#onClosed(this.#end);
  }
}

/** The bytes for as long as they are needed: a few are copied, which costs less than another buffer for the next read. */
function kept(piece: Buffer, hold: Hold | undefined): [Buffer, Release | undefined] {
  return hold && piece.length <= COPIED_BYTES ? [Buffer.from(piece), undefined] : [piece, hold?.()];
}

/** Ends a stream so that its far end sees an abort and not a proper end, where the stream can say so. */
function abort(stream: Duplex & Partial<Resettable>): void {
  if (stream.destroyed) return;
  if (stream instanceof Socket && stream.connecting) {
    abortConnecting(stream);
    return;
  }
  // Node's reset fails while the end is being sent, and the socket then never says that it is closed. All bytes are out
  // by then, so that what the far end sees is complete.
  const isEnding = stream.writableEnded && !stream.writableFinished && stream.writableLength === 0;
  if (stream.resetAndDestroy && !isEnding) stream.resetAndDestroy();
  else stream.destroy();
}

/**
 * The connection may be there already without this process knowing: closed now, its far end would see an ordinary end. So it
 * is reset before anything that was written leaves (Node's own reset would come after that), or closed after a look at what
 * the network has said. One that is not there even then, the kernel answers with a reset if it still comes.
 */
function abortConnecting(socket: Socket): void {
  socket.prependOnceListener('connect', () => socket.resetAndDestroy());
  // The first comes after what is being looked at now, the second after another look.
  setImmediate(() => setImmediate(() => socket.destroy()));
}
