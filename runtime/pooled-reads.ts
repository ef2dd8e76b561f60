import net from 'node:net';
import type { OnReadOpts } from 'node:net';
import { TLSSocket } from 'node:tls';
import { bulkThrottle } from './bulk-throttle.ts';

/**
 * Sockets that read into buffers which are used again. Node gives every read a buffer of its own; under bulk that is
 * garbage outside the JavaScript heap, which V8 answers with a full collection for every 40 MB: with the heap of a whole
 * program three quarters of the processor time of a forwarded byte. Reading into the same few buffers costs none of it.
 *
 * Such a socket emits `data` with a second argument, a function that gives the buffer back. A listener that does not
 * know of it may keep the bytes for as long as it likes: a buffer that is not given back is not used again.
 */
export type Release = () => void;

/** One read of a busy socket; what Node itself uses. */
const LARGE_BYTES = 64 * 1024;
/** What an idle connection occupies. */
const SMALL_BYTES = 4 * 1024;
/** So many short reads in a row and a connection counts as quiet: a single one is only the tail of a message. */
const QUIET_READS = 16;
/** Large buffers that wait for their next use: as many as may wait for a slow destination. */
const MAX_FREE = 4;

/**
 * After so many full reads in a row a socket lets all others have their turn; libuv would read up to 32 times from a busy
 * one before it looks at the next.
 */
const FULL_READS_PER_TURN = 4;

export interface ReadsUse {
  /** Fewer where a byte is more work than to pass it on. */
  fullReadsPerTurn?: number;
  /** False where most short reads are the carrying protocol's own: whoever unpacks them tells of short messages. */
  signalsShortMessages?: boolean;
}

type Deliver = (chunk: Buffer, release: Release) => void;

/** The buffers of one socket. */
class ReadBuffers {
  readonly #deliver: Deliver;
  /** Reading has stopped; it goes on when others have had their turn. */
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
  // Whoever has paused it meanwhile resumes it.
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

/** What Node keeps behind a socket; not declared, but it is what the `handle` option of net.Socket takes. */
interface HandleOwner {
  _handle: object | null;
}

/** Undeclared options that net.Server itself passes to the sockets it makes. */
interface AdoptOptions extends Omit<net.SocketConstructorOpts, 'handle'> {
  handle: object;
  pauseOnCreate: boolean;
}

/**
 * The same connection with pooled reads, paused, for sockets that a server has accepted: those cannot be given the
 * `onread` option. What the old socket has read and not delivered must be taken out of it before; it is finished with
 * the new one. TLS sockets, and any that do not look as expected, are returned as they are.
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
