import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../core/errors.ts';

interface Scope {
  open: boolean;
}

/**
 * Tracks whether code runs inside the closure of a `writes.write`. Such code must use its `tx`: the outer `db` would
 * deadlock with that transaction (SQLite) or write outside of it (PostgreSQL). Both engines reject it, so that tests on
 * either find the mistake.
 */
export class WriteScope {
  readonly #storage = new AsyncLocalStorage<Scope>();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const scope: Scope = { open: true };
    try {
      return await this.#storage.run(scope, work);
    } finally {
      // Work that the closure started and that outlives it, such as a timer, may use the database again.
      scope.open = false;
    }
  }

  /** @throws AppError `internal` when called inside a write closure */
  assertOutside(): void {
    if (this.#storage.getStore()?.open !== true) return;
    throw new AppError('internal', 'inside a write only its own transaction may be used, not the database');
  }
}
