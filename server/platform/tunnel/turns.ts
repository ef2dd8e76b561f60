import type { Clock } from '../core/clock.ts';

/**
 * What all tunnels together may take of one turn of the event loop, milliseconds. A turn reads sockets and then works off what was
 * left over, so that requests of others wait for at most twice this and the one message under way.
 */
const TURN_MS = 10;

/** Work of a tunnel that did not fit into its turn. */
export interface Waiting {
  /** Does a small piece. @returns true when more is left */
  work(): boolean;
}

/**
 * Shares the turns of the event loop among the tunnels. What does not fit into a turn waits for the next one, in rotation, while
 * the tunnel it came on is not read: a storm takes as long as it takes, and nobody else waits for it.
 */
export class Turns {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #queue: Waiting[] = [];
  #spentMs = 0;
  #isScheduled = false;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Nothing more should be done in this turn. */
  get isOver(): boolean {
    return this.#spentMs >= TURN_MS;
  }

  spend(ms: number): void {
    this.#spentMs += ms;
    this.#schedule();
  }

  /** In a later turn, after those that wait already. */
  wait(waiting: Waiting): void {
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
    // Each is asked once in a turn, so that a clock that stands still ends this loop too.
    for (; done < queue.length && this.#clock.monotonic() - startedAt < TURN_MS; done += 1) {
      const waiting = queue[done];
      if (waiting?.work()) this.#queue.push(waiting);
    }
    if (done < queue.length) this.#queue = [...queue.slice(done), ...this.#queue];
    if (this.#queue.length > 0) this.#schedule();
    // A new turn begins with the next look at the sockets.
    this.#spentMs = 0;
  }
}
