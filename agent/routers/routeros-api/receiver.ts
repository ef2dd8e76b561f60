import type { Socket } from 'node:net';
import { toError } from '../../core/deadline.ts';
import type { RouterCpuBudget } from '../../core/cpu-budget.ts';
import { replyMemory } from '../../core/reply-memory.ts';
import { UnsolicitedBytes } from '../../core/unsolicited.ts';
import { SentenceDecoder } from './framing.ts';
import { Receiver } from './library.ts';

/**
 * Bytes parsed in one turn of the event loop: about half a millisecond. libuv reads up to 2 MB from one socket in a row, which would
 * take 15 ms and more.
 */
const TURN_BYTES = 64 * 1024;

/** Cost of a sentence beside its bytes, so that empty ones count too. */
const SENTENCE_OVERHEAD_BYTES = 64;

export interface ReceiverEvents {
  /** `!fatal` with its bare reason: the router is about to close the connection. */
  fatal: (reason: string) => void;
  /** The stream can no longer be decoded. */
  broken: (reason: string) => void;
}

/** The library's receiver with our own framing. Never throws, because it runs inside a socket callback. */
export class GuardedReceiver extends Receiver {
  readonly #socket: Socket;
  readonly #events: ReceiverEvents;
  readonly #budget: RouterCpuBudget;
  readonly #room = replyMemory.claim();
  readonly #decoder = new SentenceDecoder(this.#room);
  readonly #unsolicited = new UnsolicitedBytes();
  #turnBytes = 0;
  #waits = false;

  /** @param budget what reading from this router may cost */
  constructor(socket: Socket, budget: RouterCpuBudget, events: ReceiverEvents) {
    super(socket);
    this.#socket = socket;
    this.#budget = budget;
    this.#events = events;
  }

  /** The connection has ended: releases its memory. */
  end(): void {
    this.#room.release();
  }

  /**
   * Guard: own framing. The library misses a reply whose last zero byte arrives in a separate segment, and loses synchronisation when
   * a length prefix is split between two segments.
   */
  override processRawData(data: Buffer): void {
    const startedAt = performance.now();
    this.#parse(data);
    this.#budget.spend(performance.now() - startedAt);
    if (this.#budget.isSpent) this.#waitForTurn();
    else this.#yieldAfter(data.length);
  }

  #parse(data: Buffer): void {
    const before = this.#decoder.emptySentences;
    try {
      this.#decoder.push(data, (words) => {
        this.#deliver(words);
      });
    } catch (error) {
      this.#events.broken(`not the RouterOS API: ${toError(error).message}`);
    }
    const empty = this.#decoder.emptySentences - before;
    if (empty > 0) this.#countUnsolicited(empty * SENTENCE_OVERHEAD_BYTES);
  }

  #countUnsolicited(bytes: number): void {
    const reason = this.#unsolicited.count(bytes);
    if (reason !== undefined) this.#events.broken(reason);
  }

  /** Pauses a router without CPU budget until the others were read. */
  #waitForTurn(): void {
    if (this.#waits) return;
    this.#waits = true;
    this.#socket.pause();
    this.#budget.whenNext(() => {
      this.#waits = false;
      this.#socket.resume();
    });
  }

  #deliver(words: string[]): void {
    if (words[0] === '!fatal') {
      this.#events.fatal(words.slice(1).join(' '));
      return;
    }
    // The tag follows the reply word in practice, but its position is not guaranteed.
    const index = words.findIndex((word) => word.startsWith('.tag='));
    const tag = words[index]?.slice('.tag='.length);
    // Guard: for a late reply the library throws UNREGISTEREDTAG from the socket callback, which ends the process.
    if (tag === undefined || !this.tags.has(tag)) {
      this.#countUnsolicited(words.reduce((sum, word) => sum + Buffer.byteLength(word), SENTENCE_OVERHEAD_BYTES));
      return;
    }
    words.splice(index, 1);
    this.currentPacket = words;
    this.sendTagData(tag);
  }

  /** Guard: parses a reply of 50,000 rows in slices, so that other work can run. */
  #yieldAfter(bytes: number): void {
    if (this.#turnBytes === 0) {
      setImmediate(() => {
        this.#turnBytes = 0;
        if (!this.#waits) this.#socket.resume();
      });
    }
    this.#turnBytes += bytes;
    if (this.#turnBytes >= TURN_BYTES) this.#socket.pause();
  }
}
