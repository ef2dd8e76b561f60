import { AppError } from '../core/errors.ts';

interface Waiter {
  grant: () => void;
  timer: NodeJS.Timeout;
}

/**
 * A first-in, first-out lock on one connection. SQLite has a single connection that writes: its holder may have a transaction open,
 * and another query on it would silently become part of that transaction.
 */
export class ConnectionLock {
  readonly #waiters: Waiter[] = [];
  readonly #deadlineMs: number;
  #held = false;

  /** @param deadlineMs Longest wait. Only a transaction that waits for something other than its own queries takes long. */
  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  /** @throws AppError `unavailable` when the holder does not release it in time */
  acquire(): Promise<void> {
    if (!this.#held) {
      this.#held = true;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { grant: resolve, timer: setTimeout(() => this.#giveUp(waiter, reject), this.#deadlineMs) };
      this.#waiters.push(waiter);
    });
  }

  release(): void {
    const next = this.#waiters.shift();
    if (next === undefined) {
      this.#held = false;
      return;
    }
    clearTimeout(next.timer);
    next.grant();
  }

  #giveUp(waiter: Waiter, reject: (error: Error) => void): void {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    reject(new AppError('unavailable', `the database was held by one transaction for over ${this.#deadlineMs} ms`));
  }
}
