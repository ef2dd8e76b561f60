import type { Clock } from '../core/clock.ts';

/**
 * Time that all tunnels together may take in one event-loop turn, milliseconds. A turn reads sockets and then handles deferred
 * messages, so that HTTP requests wait at most twice this time plus one message.
 */
const TURN_MS = 10;

/** Work of a tunnel that did not fit into an event-loop turn. */
export interface DeferredWork {
  /** Does a small part of the work. @returns true when more is left */
  work(): boolean;
}

/**
 * Shares event-loop time among the tunnels. Work that does not fit into a turn is deferred to later ones, round robin, and its
 * tunnel is not read meanwhile: a storm of messages delays only itself.
 */
export class LoopTime {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #queue: DeferredWork[] = [];
  #spentMs = 0;
  #isScheduled = false;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** True when the time of this turn is used up. */
  get isUsedUp(): boolean {
    return this.#spentMs >= TURN_MS;
  }

  spend(ms: number): void {
    this.#spentMs += ms;
    this.#schedule();
  }

  /** Defers work to a later turn, after the work that already waits. */
  wait(waiting: DeferredWork): void {
    this.#queue.push(waiting);
    this.#schedule();
  }

  /** Immediates run once in a turn, after the sockets. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    this.#isScheduled = false;
    this.#spentMs = 0;
    const startedAt = this.#clock.monotonic();
    const queue = this.#queue;
    this.#queue = [];
    let done = 0;
    // Each runs once per turn, so that this loop also ends with a clock that stands still.
    for (; done < queue.length && this.#clock.monotonic() - startedAt < TURN_MS; done += 1) {
      const waiting = queue[done];
      if (waiting?.work()) this.#queue.push(waiting);
    }
    if (done < queue.length) this.#queue = [...queue.slice(done), ...this.#queue];
    if (this.#queue.length > 0) this.#schedule();
    // A new turn starts when the sockets are next polled.
    this.#spentMs = 0;
  }
}
