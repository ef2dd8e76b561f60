import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { bulkThrottle } from '../runtime/bulk-throttle.ts';
import { freezeWatch } from '../runtime/freeze-watch.ts';
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
  /** This program stood still, and does not know whether it still may carry the connection. */
  | 'frozen'
  /** The channel's WebSocket went away. */
  | 'channel_lost';

/** The channel as a connection sees it. The channel ignores calls of a connection that is over. */
export interface ConnectionPort {
  /** Calls `release` when it no longer needs the bytes. */
  sendBytes(connection: ChannelConnection, chunk: Buffer, release: Release | undefined): void;
  /** True when no more bytes should be handed in until {@link ChannelConnection.drained}. */
  isFull(connection: ChannelConnection): boolean;
  sendEnd(connection: ChannelConnection): void;
  sendReset(connection: ChannelConnection, reason: string): void;
  /** Stops or continues reading from the channel. */
  setPaused(connection: ChannelConnection, paused: boolean): void;
}

/**
 * Bytes that may wait for a slow destination before the channel stops reading. Two reads of a busy socket fit, and a thousand
 * stalled connections cost at most 256 MB.
 */
const HIGH_WATER_BYTES = 256 * 1024;

/**
 * A connection that has sent this much is bulk and gets pooled reads. Not before, because setting them up doubles the cost of a
 * new connection.
 */
const BULK_BYTES = 256 * 1024;

/** Up to this size a piece is interactive (a keystroke, a small request) and is sent at once. */
const SHORT_BYTES = 4096;

/** A piece up to this size is copied out of the buffer in which it arrived. */
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
  /** Bytes that arrived before the stream was attached, while the target is being dialled. */
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

  /** True once the connection is over. The stream may still be flushing. */
  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** Starts moving bytes. The stream must keep half-close (`allowHalfOpen`) and belongs to the connection from here on. */
  attach(stream: Duplex): void {
    this.#stream = stream;
    this.#listen(stream);
    // It broke before the listeners were attached: its events will not come again.
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
    // The client half-closed while it waited: that event will not come again either.
    if (stream.readableEnded) this.#onEnd();
    stream.resume();
  }

  /** Ends the connection at once on both sides; a TCP client sees a reset. `reason` is shown on the other side. */
  cut(reason: string): void {
    this.#fail('cut', reason);
  }

  /** From the channel: bytes for the stream. */
  receiveBytes(piece: Buffer, hold: Hold | undefined): void {
    if (this.#isCutByFreeze()) return;
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
   * Called by the channel at intervals. A paused socket does not report a reset by its peer, but an empty write does. Without it,
   * the connection of a client that gave up on a stalled target would stay open until the target moves.
   */
  detectReset(): void {
    const stream = this.#stream;
    if (stream instanceof Socket && stream.isPaused() && stream.writable && stream.writableLength === 0) stream.write(NOTHING);
  }

  readonly #onData = (chunk: Buffer, release?: Release): void => {
    if (this.#isCutByFreeze()) {
      release?.();
      return;
    }
    this.bytesSent += chunk.length;
    // A socket with pooled reads signals this itself.
    if (!release && chunk.length <= SHORT_BYTES) bulkThrottle.shortMessagePassed();
    this.#port.sendBytes(this, chunk, release);
    if (this.#port.isFull(this)) this.#stream?.pause();
    if (this.bytesSent < this.#bulkFrom) return;
    this.#bulkFrom = this.bytesSent + BULK_BYTES;
    // Not inside the socket's own event, whose handler still uses the old socket.
    setImmediate(() => this.#usePooledReads());
  };

  /** The connection may have been revoked while this process stood still. */
  #isCutByFreeze(): boolean {
    if (!freezeWatch.hasFrozen) return false;
    this.#fail('frozen', 'node_lost');
    return true;
  }

  readonly #onEnd = (): void => {
    this.#readEnded = true;
    this.#port.sendEnd(this);
  };

  readonly #onDrain = (): void => this.#port.setPaused(this, false);
  readonly #onError = (): void => this.#fail('local_reset', 'connection broken');

  /** Replaces the stream by the same connection with pooled reads, when nothing is in transit on it. */
  #usePooledReads(): void {
    const old = this.#stream;
    if (!(old instanceof Socket) || this.#end !== undefined || this.#readEnded || this.#peerEnded) return;
    // A paused socket may have reached its end without having emitted it.
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
    if (end === 'local_reset' || end === 'cut' || end === 'frozen') this.#port.sendReset(this, reason);
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

/** Bytes that stay valid after the call. Few bytes are copied, which costs less than another buffer for the next read. */
function kept(piece: Buffer, hold: Hold | undefined): [Buffer, Release | undefined] {
  return hold && piece.length <= COPIED_BYTES ? [Buffer.from(piece), undefined] : [piece, hold?.()];
}

/** Ends a stream so that its peer sees a reset instead of a normal end, where the stream supports it. */
function abort(stream: Duplex & Partial<Resettable>): void {
  if (stream.destroyed) return;
  if (stream instanceof Socket && stream.connecting) {
    abortConnecting(stream);
    return;
  }
  // Node's reset fails while the end is being sent, and the socket then never emits `close`. All bytes have been sent by then, so
  // the peer sees complete data.
  const isEnding = stream.writableEnded && !stream.writableFinished && stream.writableLength === 0;
  if (stream.resetAndDestroy && !isEnding) stream.resetAndDestroy();
  else stream.destroy();
}

/**
 * The kernel may have completed the connection before this process knows; closed now, the peer would see a normal end. So it is
 * reset on connect, before any written bytes leave (Node's own reset would come later), or closed after pending network events
 * were handled. If the connection completes even later, the kernel answers with a reset.
 */
function abortConnecting(socket: Socket): void {
  socket.prependOnceListener('connect', () => socket.resetAndDestroy());
  // The first runs after the events being handled now, the second after one more poll.
  setImmediate(() => setImmediate(() => socket.destroy()));
}
