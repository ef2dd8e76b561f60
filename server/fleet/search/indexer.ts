import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { indexWaiting } from './store.ts';

/** Searches read what waits without an index: some thousand documents when a fleet of 10,000 agents connects, in some milliseconds. */
const EVERY_MS = 1000;

/**
 * Moves the documents that wait (migration 81) into SQLite's search index. PostgreSQL keeps such a list by itself. A document is in the list or
 * in the index after every transaction, so searches find it at any time.
 */
export class SearchIndexer {
  readonly #storage: Storage;
  readonly #periodic: Periodic;

  constructor({ storage, clock, log }: { storage: Storage; clock: Clock; log: Log }) {
    this.#storage = storage;
    const failure = 'documents cannot be added to the search index; searches read them without it';
    this.#periodic = new Periodic({ clock, log, everyMs: EVERY_MS, failure, run: (signal) => indexWaiting(storage, signal) });
  }

  start(): void {
    if (this.#storage.engine === 'sqlite') this.#periodic.start();
  }

  /** Resolves when the current write has ended. */
  async stop(): Promise<void> {
    await this.#periodic.stop();
  }
}
