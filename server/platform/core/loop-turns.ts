import { AsyncLocalStorage } from 'node:async_hooks';
import type { Holder } from '../../../runtime/fair-shares.ts';
import { FairQueue } from './fair-queue.ts';

/** Requests another turn for the caller of the running code. */
const turns = new AsyncLocalStorage<() => Promise<void>>();

/** Callers that continue in one turn of the event loop. */
export interface TurnLimits {
  least: number;
  /** For each millisecond that the turn took, where that is more. */
  perMs: number;
  most: number;
}

const ONE_BY_ONE: TurnLimits = { least: 1, perMs: 0, most: 1 };

/**
 * Shares the event loop among callers with large reads, or many small pieces of work. One of them, or a few, continue in each turn of the
 * loop, and sockets are read in between: a request that takes no turn waits for so much of such work at most, however many callers there
 * are. Teams take turns, and in each team its members.
 */
export class LoopTurns {
  readonly #queue = new FairQueue<() => void>();
  readonly #limits: TurnLimits;
  #isScheduled = false;

  constructor(limits: TurnLimits = ONE_BY_ONE) {
    this.#limits = limits;
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
    const scheduledAt = performance.now();
    setImmediate(() => {
      this.#isScheduled = false;
      const { least, perMs, most } = this.#limits;
      const byTime = Math.floor((performance.now() - scheduledAt) * perMs);
      for (let rest = Math.min(Math.max(least, byTime), most); rest > 0; rest -= 1) this.#queue.next(() => true)?.item();
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
