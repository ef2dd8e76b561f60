import net from 'node:net';
import type { OnReadOpts } from 'node:net';
import { TLSSocket } from 'node:tls';
import { bulkThrottle } from './bulk-throttle.ts';

/**
 * Sockets that read into reusable buffers. Node allocates a new buffer for every read. Under bulk load these are garbage outside
 * the JavaScript heap, and V8 runs a full collection for every 40 MB of it: three quarters of the processor time of a forwarded
 * byte. Reading into the same few buffers avoids that.
 *
 * Such a socket emits `data` with a second argument, a function that gives the buffer back. A listener that ignores it may keep
 * the bytes: a buffer that is not given back is not used again.
 */
export type Release = () => void;

/** One read of a busy socket; what Node itself uses. */
const LARGE_BYTES = 64 * 1024;
/** The read buffer of an idle connection. */
const SMALL_BYTES = 4 * 1024;
/** Short reads in a row after which a connection counts as quiet: a single one may be the tail of a message. */
const QUIET_READS = 16;
/** Free large buffers that are kept: as many as may wait for a slow destination. */
const MAX_FREE = 4;

/** Full reads in a row after which a socket yields to the others; libuv would read a busy socket up to 32 times. */
const FULL_READS_PER_TURN = 4;

export interface ReadsUse {
  /** Lower it where processing a byte costs more than passing it on. */
  fullReadsPerTurn?: number;
  /** False where most short reads belong to the carrying protocol: its decoder then signals short messages. */
  signalsShortMessages?: boolean;
}

type Deliver = (chunk: Buffer, release: Release) => void;

/** The buffers of one socket. */
class ReadBuffers {
  readonly #deliver: Deliver;
  /** Reading has stopped; resumes it after the other sockets were read. */
  readonly #resumeLater: () => void;
  readonly #use: Required<ReadsUse>;
  #current: Buffer = Buffer.allocUnsafeSlow(SMALL_BYTES);
  #small: Buffer | undefined;
  #free: Buffer[] = [];
  #shortReads = 0;
  #fullReads = 0;
  #large = false;

  constructor(deliver: Deliver, resumeLater: () => void, use: ReadsUse) {
    this.#deliver = deliver;
    this.#resumeLater = resumeLater;
    this.#use = { fullReadsPerTurn: FULL_READS_PER_TURN, signalsShortMessages: true, ...use };
  }

  /** For the `onread` option of net.connect, tls.connect and net.Socket. */
  get options(): OnReadOpts {
    return { buffer: () => this.#next(), callback: (length, buffer) => this.#read(length, buffer as Buffer) };
  }

  #read(length: number, buffer: Buffer): boolean {
    const short = length < SMALL_BYTES;
    this.#shortReads = short ? this.#shortReads + 1 : 0;
    this.#large = this.#large ? this.#shortReads < QUIET_READS : !short;
    if (!this.#large && this.#use.signalsShortMessages) bulkThrottle.shortMessagePassed();
    const chunk = length === buffer.length ? buffer : buffer.subarray(0, length);
    this.#deliver(chunk, () => this.#giveBack(buffer));
    this.#fullReads = length === LARGE_BYTES ? this.#fullReads + 1 : 0;
    if (this.#fullReads < this.#use.fullReadsPerTurn) return true;
    this.#fullReads = 0;
    this.#resumeLater();
    return false;
  }

  #next(): Buffer {
    if (this.#large) {
      this.#current = this.#free.pop() ?? Buffer.allocUnsafeSlow(LARGE_BYTES);
    } else {
      this.#free = [];
      this.#current = this.#small ?? Buffer.allocUnsafeSlow(SMALL_BYTES);
      this.#small = undefined;
    }
    return this.#current;
  }

  #giveBack(buffer: Buffer): void {
    if (buffer.length === SMALL_BYTES) this.#small = buffer;
    else if (this.#large && this.#free.length < MAX_FREE) this.#free.push(buffer);
  }
}

/** Options for net.connect or tls.connect; call `attach` with the socket before it can read anything. */
export function pooledReads(use: ReadsUse = {}): { onread: OnReadOpts; attach(socket: net.Socket): void } {
  let socket: net.Socket | undefined;
  const deliver: Deliver = (chunk, release) => socket?.emit('data', chunk, release);
  // If another part has paused it meanwhile, that part resumes it.
  const resume = (): void => {
    if (socket && !socket.destroyed && !socket.isPaused()) socket.resume();
  };
  const buffers = new ReadBuffers(deliver, () => bulkThrottle.whenNext(resume), use);
  return {
    onread: buffers.options,
    attach: (of) => {
      socket = of;
    },
  };
}

/** Node's undeclared handle of a socket, which the `handle` option of net.Socket accepts. */
interface HandleOwner {
  _handle: object | null;
}

/** Undeclared options that net.Server itself passes to the sockets it makes. */
interface AdoptOptions extends Omit<net.SocketConstructorOpts, 'handle'> {
  handle: object;
  pauseOnCreate: boolean;
}

/**
 * Returns the same connection as a new, paused socket with pooled reads. Needed for sockets that a server has accepted, because
 * they cannot get the `onread` option. Consume everything that the old socket has read first; it closes with the new one.
 * Returns TLS sockets, and sockets without the expected handle, unchanged.
 */
export function adoptWithPooledReads(socket: net.Socket): net.Socket {
  const owner = socket as unknown as HandleOwner;
  const handle = owner._handle;
  if (socket instanceof TLSSocket || !handle || socket.destroyed) return socket;
  socket.setTimeout(0);
  owner._handle = null;
  const reads = pooledReads();
  const options: AdoptOptions = { handle, pauseOnCreate: true, allowHalfOpen: true, onread: reads.onread };
  const adopted = new net.Socket(options as net.SocketConstructorOpts);
  reads.attach(adopted);
  // The server counts the old one as an open connection until it is destroyed.
  adopted.on('close', () => socket.destroy());
  return adopted;
}
