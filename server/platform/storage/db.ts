import type { Kysely, Transaction } from 'kysely';
import type { Schema } from './schema.ts';

/** The database outside a transaction. */
export type Db = Kysely<Schema>;
/** Inside one: nothing but queries on it may be awaited. */
export type Tx = Transaction<Schema>;
/** The first parameter of store functions. */
export type DbOrTx = Db | Tx;

/**
 * Group commit: all writes submitted within one tick share one transaction and one fsync, and every caller gets its
 * result after the commit. On PostgreSQL, which groups commits itself, each write is its own statement or transaction.
 */
export interface WriteQueue {
  /** Runs `work` inside the next shared transaction. Its error rejects only this caller; work must only query. */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

export interface Storage {
  readonly db: Db;
  readonly writes: WriteQueue;
  readonly engine: 'sqlite' | 'postgres';
  close(): Promise<void>;
}
