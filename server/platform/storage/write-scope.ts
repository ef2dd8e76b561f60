import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../core/errors.ts';

interface Scope {
  open: boolean;
}

/**
 * Knows whether the running code is inside the closure of a `writes.write`. Such code must use the `tx` it was given:
 * the outer `db` would wait for the very transaction that waits for it (SQLite), or write outside of it (PostgreSQL).
 * Both engines refuse it alike, so that tests on either find the mistake.
 */
export class WriteScope {
  readonly #storage = new AsyncLocalStorage<Scope>();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const scope: Scope = { open: true };
    try {
      return await this.#storage.run(scope, work);
    } finally {
      // What the closure started and left behind (a timer, say) may use the database again.
      scope.open = false;
    }
  }

  /** @throws AppError `internal` when called inside a write closure */
  assertOutside(): void {
    if (this.#storage.getStore()?.open !== true) return;
    throw new AppError('internal', 'inside a write only its own transaction may be used, not the database');
  }
}
