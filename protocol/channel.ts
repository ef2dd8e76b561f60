import { ChannelConnection } from './channel-connection.ts';
import type { ConnectionPort } from './channel-connection.ts';
import { MAX_CHANNEL_MESSAGE_BYTES, MAX_CHANNEL_TEXT_BYTES } from './channel-socket.ts';
import type { ChannelSocket, Hold } from './channel-socket.ts';
import { ChannelState } from './channel-state.ts';
import type { ChannelRole, Verdict } from './channel-state.ts';
import { Liveness } from './liveness.ts';
import { channelMessage } from './messages/channel.ts';
import type { ChannelMessage } from './messages/channel.ts';
import type { Release } from '../runtime/pooled-reads.ts';
import { systemTimers } from '../runtime/timers.ts';
import type { Timers } from '../runtime/timers.ts';

/**
 * Bytes that may wait for the WebSocket before the stream is no longer read. Enough to keep a fast line busy between two turns of
 * the event loop; the kernel's own buffers come on top.
 */
const HIGH_WATER_BYTES = 256 * 1024;
const LOW_WATER_BYTES = 64 * 1024;

const EMPTY = Buffer.alloc(0);

export interface ChannelTiming {
  /** Ping interval: proxies cut idle links at 60 s. Two silent periods end the channel. */
  pingMs: number;
  /** Longest wait for the peer's end of a connection that this side has reset. */
  discardMs: number;
  timers: Timers;
}

export const CHANNEL_TIMING: ChannelTiming = { pingMs: 25_000, discardMs: 10_000, timers: systemTimers };

export interface ChannelEvents {
  /** Accepter only: a connection begins. Attach a stream to it or cut it, now or later. */
  onConnection?: (connection: ChannelConnection) => void;
  /** The current connection has ended on the channel: the next one may begin. */
  onFree?: () => void;
  /** The WebSocket has closed, for any reason; called once. */
  onClosed: (reason: string) => void;
}

/**
 * One WebSocket that carries one TCP connection after another (SPEC.md, "Channels"). Construct it in the turn of the event loop
 * in which the WebSocket opens: several messages can arrive in one read.
 */
export class Channel {
  readonly #socket: ChannelSocket;
  readonly #state: ChannelState;
  readonly #events: ChannelEvents;
  readonly #timing: ChannelTiming;
  readonly #port: ConnectionPort;
  #connection: ChannelConnection | undefined;
  #paused = false;
  #full = false;
  /** Number of received messages of any kind, for {@link Liveness}. */
  #heard = 0;
  #closeReason = 'connection lost';
  #phase: 'live' | 'closing' | 'closed' = 'live';
  readonly #liveness: Liveness;
  #deadline: { cancel(): void } | undefined;

  constructor(socket: ChannelSocket, role: ChannelRole, events: ChannelEvents, timing: ChannelTiming = CHANNEL_TIMING) {
    this.#socket = socket;
    this.#state = new ChannelState(role);
    this.#events = events;
    this.#timing = timing;
    this.#port = this.#connectionPort();
    socket.on('message', (data, isBinary, hold) => this.#receive(data, isBinary, hold));
    socket.on('ping', () => (this.#heard += 1));
    socket.on('pong', () => (this.#heard += 1));
    // The close event, which always follows, reports it.
    socket.on('error', (error) => (this.#closeReason = error.message));
    socket.on('close', () => this.#socketClosed());
    this.#liveness = this.#watch();
  }

  get free(): boolean {
    return this.#phase === 'live' && this.#state.free;
  }

  get closed(): boolean {
    return this.#phase === 'closed';
  }

  /** Connections carried so far, including the current one. */
  get carried(): number {
    return this.#state.n;
  }

  /** Opener only: begins the next connection. @returns undefined when the channel is not free */
  open(): ChannelConnection | undefined {
    if (this.#phase !== 'live') return undefined;
    const n = this.#state.open();
    if (n === undefined) return undefined;
    this.#sendText({ type: 'open', n });
    return this.#begin(n);
  }

  /** Closes the WebSocket and cuts the current connection. */
  close(reason: string): void {
    this.#shut(1000, reason);
  }

  /** Ends the WebSocket without a closing handshake and cuts the current connection. */
  terminate(reason: string): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closing';
    this.#closeReason = reason;
    this.#socket.terminate();
  }

  #connectionPort(): ConnectionPort {
    const isPresent = (connection: ChannelConnection): boolean => connection === this.#connection && this.#phase === 'live';
    return {
      sendBytes: (connection, chunk, release) => {
        if (isPresent(connection) && this.#state.maySendBytes()) this.#sendBytes(chunk, release);
        else release?.();
      },
      isFull: (connection) => isPresent(connection) && this.#full,
      sendEnd: (connection) => {
        if (!isPresent(connection) || !this.#state.end()) return;
        this.#socket.send(EMPTY);
        this.#settle();
      },
      sendReset: (connection, reason) => {
        if (isPresent(connection)) this.#reset(reason);
      },
      setPaused: (connection, paused) => {
        if (isPresent(connection)) this.#setPaused(paused);
      },
    };
  }

  #begin(n: number): ChannelConnection {
    this.#connection = new ChannelConnection(this.#port, n);
    return this.#connection;
  }

  #sendBytes(chunk: Buffer, release: Release | undefined): void {
    let at = 0;
    for (; at + MAX_CHANNEL_MESSAGE_BYTES < chunk.length; at += MAX_CHANNEL_MESSAGE_BYTES) {
      this.#socket.send(chunk.subarray(at, at + MAX_CHANNEL_MESSAGE_BYTES), this.#sent);
    }
    const last = at === 0 ? chunk : chunk.subarray(at);
    // Messages are sent in order, so the last part of a chunk is the last one to need its buffer.
    this.#socket.send(last, release === undefined ? this.#sent : () => this.#sentPooled(release));
    if (this.#socket.bufferedAmount >= HIGH_WATER_BYTES) this.#full = true;
  }

  #sentPooled(release: Release): void {
    release();
    this.#sent();
  }

  /** A failed send needs no handling: `close` follows. */
  readonly #sent = (): void => {
    if (!this.#full || this.#socket.bufferedAmount > LOW_WATER_BYTES) return;
    this.#full = false;
    this.#connection?.drained();
  };

  #sendText(message: ChannelMessage): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** Sends a reset, then waits a limited time for the peer's end of the connection. */
  #reset(reason: string): void {
    if (!this.#state.reset()) return;
    this.#sendText({ type: 'reset', n: this.#state.n, reason: reason.slice(0, 200) });
    this.#setPaused(false);
    if (this.#state.discarding) this.#giveUpLater('the peer did not end a reset connection');
    this.#settle();
  }

  /** Becomes free once both directions have ended. */
  #settle(): void {
    if (!this.#state.free || !this.#connection) return;
    this.#deadline?.cancel();
    this.#connection = undefined;
    this.#full = false;
    this.#setPaused(false);
    this.#events.onFree?.();
  }

  #setPaused(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    if (paused) this.#socket.pause();
    else this.#socket.resume();
  }

  #receive(data: Buffer | ArrayBuffer | Buffer[], isBinary: boolean, hold: Hold | undefined): void {
    this.#heard += 1;
    if (this.#phase !== 'live') return;
    if (!Buffer.isBuffer(data)) this.#violation('unexpected kind of buffer');
    else if (!isBinary) this.#receiveText(data);
    else if (data.length === 0) this.#receiveEnd();
    else this.#receiveBytes(data, hold);
  }

  #receiveBytes(data: Buffer, hold: Hold | undefined): void {
    const verdict = this.#state.receiveBytes();
    if (verdict === 'deliver') this.#connection?.receiveBytes(data, hold);
    else this.#refuse(verdict, 'bytes outside a connection');
  }

  #receiveEnd(): void {
    const verdict = this.#state.receiveEnd();
    if (verdict === 'deliver') this.#connection?.receiveEnd();
    else this.#refuse(verdict, 'half-close outside a connection');
    this.#settle();
  }

  #receiveText(data: Buffer): void {
    const message = data.length <= MAX_CHANNEL_TEXT_BYTES ? parseMessage(data) : undefined;
    if (!message) this.#violation('not a channel message');
    else if (message.type === 'open') this.#receiveOpen(message.n);
    else this.#receiveReset(message.n);
  }

  #receiveOpen(n: number): void {
    const verdict = this.#state.receiveOpen(n);
    if (verdict !== 'deliver') this.#refuse(verdict, 'open out of turn');
    else if (this.#events.onConnection) this.#events.onConnection(this.#begin(n));
  }

  #receiveReset(n: number): void {
    const verdict = this.#state.receiveReset(n);
    if (verdict === 'deliver') {
      this.#connection?.receiveReset();
      this.#reset('reset by peer');
    } else {
      this.#refuse(verdict, 'reset of a connection that was never opened');
    }
    this.#settle();
  }

  #refuse(verdict: Verdict, what: string): void {
    if (verdict === 'violation') this.#violation(what);
  }

  #violation(what: string): void {
    this.#shut(1002, `protocol violation: ${what}`);
  }

  /** The peer may not answer the closing handshake, so this side waits a limited time. */
  #shut(code: number, reason: string): void {
    if (this.#phase !== 'live') return;
    this.#phase = 'closing';
    this.#closeReason = reason;
    this.#connection?.lost();
    this.#setPaused(false);
    this.#giveUpLater(reason);
    this.#socket.close(code, reason.slice(0, 100));
  }

  #socketClosed(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#liveness.stop();
    this.#deadline?.cancel();
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.lost();
    this.#events.onClosed(this.#closeReason);
  }

  #giveUpLater(reason: string): void {
    this.#deadline?.cancel();
    this.#deadline = this.#timing.timers.setTimeout(() => this.terminate(reason), this.#timing.discardMs);
  }

  /** A side that does not read receives nothing and must not conclude anything; its pings keep the other side informed. */
  #watch(): Liveness {
    return new Liveness({
      timers: this.#timing.timers,
      random: Math.random,
      periodMs: this.#timing.pingMs,
      bytesRead: () => this.#heard,
      paused: () => this.#paused,
      ping: () => {
        this.#socket.ping();
        this.#connection?.detectReset();
      },
      onDead: () => this.terminate('the peer is silent'),
    });
  }
}

function parseMessage(data: Buffer): ChannelMessage | undefined {
  try {
    return channelMessage.safeParse(JSON.parse(data.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
