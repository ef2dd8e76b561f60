import { AppError } from '../core/errors.ts';
import type { Db, Tx, WriteQueue } from './db.ts';
import type { WriteScope } from './write-scope.ts';

/**
 * The write queue of PostgreSQL, which groups commits by itself: each write is a transaction of its own.
 * An error aborts the transaction, so handle expected conflicts with ON CONFLICT rather than by catching errors.
 */
export class OwnTransaction implements WriteQueue {
  readonly #db: Db;
  readonly #scope: WriteScope;
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  constructor(db: Db, scope: WriteScope) {
    this.#db = db;
    this.#scope = scope;
  }

  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    this.#scope.assertOutside();
    if (this.#closed) throw new AppError('unavailable', 'the database is being closed');
    const running = this.#db.transaction().execute((tx) => this.#scope.run(async () => work(tx)));
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Stops accepting writes and waits until pending ones have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running);
  }
}
