import { AppError } from '../core/errors.ts';

/** Whom a connection serves: a request, or agents and the control plane itself. */
export type ConnectionUse = 'request' | 'own';

/** Longest wait, milliseconds. A request is refused within seconds; an agent's message may wait, and is repeated if it fails. */
const WAIT_MS: Readonly<Record<ConnectionUse, number>> = { request: 5000, own: 30_000 };

/** Part of the connections that each use leaves to the other: 3 of 10. */
const LEFT_TO_THE_OTHER = 0.3;

interface Waiter {
  grant: () => void;
  timer: NodeJS.Timeout;
}

/**
 * Shares the connections to PostgreSQL between requests and agents. When thousands of agents connect at once, they would otherwise hold
 * all of them, and requests fail that wait for one longer than pg allows; and the other way round.
 */
export class ConnectionShares {
  /** Connections that each use may hold. */
  readonly most: number;
  readonly #held: Record<ConnectionUse, number> = { request: 0, own: 0 };
  readonly #waiting: Record<ConnectionUse, Waiter[]> = { request: [], own: [] };

  /** @param total connections of the pool */
  constructor(total: number) {
    this.most = Math.max(1, total - Math.ceil(total * LEFT_TO_THE_OTHER));
  }

  /** First come, first served among those of one use. @throws AppError `unavailable` after the longest wait */
  acquire(use: ConnectionUse): Promise<void> {
    if (this.#held[use] < this.most) {
      this.#held[use] += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { grant: resolve, timer: setTimeout(() => this.#giveUp(use, waiter, reject), WAIT_MS[use]) };
      this.#waiting[use].push(waiter);
    });
  }

  /** Every successful {@link acquire} needs one. */
  release(use: ConnectionUse): void {
    const next = this.#waiting[use].shift();
    if (!next) {
      this.#held[use] -= 1;
      return;
    }
    clearTimeout(next.timer);
    next.grant();
  }

  #giveUp(use: ConnectionUse, waiter: Waiter, reject: (error: Error) => void): void {
    const waiting = this.#waiting[use];
    waiting.splice(waiting.indexOf(waiter), 1);
    reject(new AppError('unavailable', `no connection to the database was free for ${WAIT_MS[use]} ms`));
  }
}
