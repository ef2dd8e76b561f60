import { AsyncLocalStorage } from 'node:async_hooks';
import type { Holder } from '../../../runtime/fair-shares.ts';
import { FairQueue } from './fair-queue.ts';

/** Requests another turn for the caller of the running code. */
const turns = new AsyncLocalStorage<() => Promise<void>>();

/**
 * Shares the event loop among callers with large reads, or many small pieces of work. One of them, or a few, continue in each turn of the
 * loop, and sockets are read in between: a request that takes no turn waits for so much of such work at most, however many callers there
 * are. Teams take turns, and in each team its members.
 */
export class LoopTurns {
  readonly #queue = new FairQueue<() => void>();
  readonly #perTurn: number;
  #isScheduled = false;

  /** @param perTurn callers that continue in one turn of the event loop */
  constructor(perTurn = 1) {
    this.#perTurn = perTurn;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Waits for a turn of the event loop. */
  take(holder: Holder): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.add(holder, resolve);
      this.#schedule();
    });
  }

  /** Runs the work, which calls {@link nextTurn} between its pieces. */
  within<T>(holder: Holder, work: () => T): T {
    return turns.run(() => this.take(holder), work);
  }

  /** Immediates run once in a turn of the loop, after the sockets. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      for (let count = 0; count < this.#perTurn; count += 1) this.#queue.next(() => true)?.item();
      if (this.#queue.size > 0) this.#schedule();
    });
  }
}

/**
 * Await it between pieces of work of about ten milliseconds while a list is read and serialised: sockets are read and other
 * callers continue. Outside of a request it only lets sockets be read.
 */
export function nextTurn(): Promise<void> {
  return turns.getStore()?.() ?? new Promise((resolve) => void setImmediate(resolve));
}
