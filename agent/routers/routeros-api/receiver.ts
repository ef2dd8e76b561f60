import type { Socket } from 'node:net';
import { toError } from '../../core/deadline.ts';
import { SentenceDecoder } from './framing.ts';
import { Receiver } from './library.ts';

/**
 * Bytes parsed in one turn of the event loop before other work gets its chance: about 1 ms of parsing.
 * libuv reads up to 2 MB from one socket in a row, which would be 15 ms and more.
 */
const TURN_BYTES = 128 * 1024;

export interface ReceiverEvents {
  /** `!fatal` with its bare reason: the router is about to close the connection. */
  fatal: (reason: string) => void;
  /** The stream cannot be understood any more. */
  broken: (reason: string) => void;
}

/** The library's table of tags behind framing of our own. Never throws: it runs inside a socket callback. */
export class GuardedReceiver extends Receiver {
  readonly #socket: Socket;
  readonly #events: ReceiverEvents;
  readonly #decoder = new SentenceDecoder();
  #turnBytes = 0;

  constructor(socket: Socket, events: ReceiverEvents) {
    super(socket);
    this.#socket = socket;
    this.#events = events;
  }

  /**
   * Guard: own framing. The library misses a reply whose last zero byte comes in a segment of its own, and
   * loses the stream when a length prefix is split between two segments.
   */
  override processRawData(data: Buffer): void {
    this.#yieldAfter(data.length);
    try {
      this.#decoder.push(data, (words) => {
        this.#deliver(words);
      });
    } catch (error) {
      this.#events.broken(`not the RouterOS API: ${toError(error).message}`);
    }
  }

  #deliver(words: string[]): void {
    if (words[0] === '!fatal') {
      this.#events.fatal(words.slice(1).join(' '));
      return;
    }
    // The tag follows the reply word in practice, but its place is not promised.
    const index = words.findIndex((word) => word.startsWith('.tag='));
    const tag = words[index]?.slice('.tag='.length);
    // Guard: the library throws UNREGISTEREDTAG from the socket callback for a late reply, which ends the process.
    if (tag === undefined || !this.tags.has(tag)) return;
    words.splice(index, 1);
    this.currentPacket = words;
    this.sendTagData(tag);
  }

  /** Guard: a reply of 50,000 rows is parsed in slices instead of as fast as the kernel delivers it. */
  #yieldAfter(bytes: number): void {
    if (this.#turnBytes === 0) {
      setImmediate(() => {
        this.#turnBytes = 0;
        this.#socket.resume();
      });
    }
    this.#turnBytes += bytes;
    if (this.#turnBytes >= TURN_BYTES) this.#socket.pause();
  }
}
