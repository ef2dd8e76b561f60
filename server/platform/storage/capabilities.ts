import type { Storage } from './db.ts';

export type Engine = Storage['engine'];

/** Everything in which the two engines differ outside their drivers. Code asks here, never `if (engine === ...)`. */
interface Capabilities {
  /** Column type of text that is compared and ordered byte by byte on both engines. */
  text: string;
  /** Run first in the migration transaction, so that two programs that start together migrate one after the other. */
  migrationLock: readonly string[];
  /** One writer at a time: what a transaction has read stays true until it ends, without locks of rows. */
  singleWriter: boolean;
}

/** Any fixed number: the advisory lock "Signalbox migrates". */
const MIGRATION_LOCK_KEY = 7_311_094_203;

export const capabilities: Record<Engine, Capabilities> = {
  // SQLite's own order is binary, and every transaction here begins with the write lock.
  sqlite: { text: 'text', migrationLock: [], singleWriter: true },
  postgres: {
    // Without it ids and cursors would be ordered by the language the server was installed in.
    text: 'text collate "C"',
    // Building an index on a grown table may take longer than any request may.
    migrationLock: [`select pg_advisory_xact_lock(${MIGRATION_LOCK_KEY})`, 'set local statement_timeout = 0'],
    singleWriter: false,
  },
};
