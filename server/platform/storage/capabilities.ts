import type { Storage } from './db.ts';

export type Engine = Storage['engine'];

/** All differences between the two engines outside their drivers. Use these, never `if (engine === ...)`. */
interface Capabilities {
  /** Column type for text that both engines compare and sort by bytes. */
  text: string;
  /** Run first in the migration transaction, so that programs that start together migrate one after the other. */
  migrationLock: readonly string[];
  /** One writer at a time: what a transaction has read stays true until it ends, without row locks. */
  singleWriter: boolean;
  /** Behind a table whose rows are found by their primary key only, so that they lie in its order and take no second index. */
  clustered: string;
  /** Run first in the transaction of a control plane that claims the database, so that one at a time does. */
  nodesLock: readonly string[];
  /** An expression: whether there is a table of this name. */
  tableExists: (name: string) => string;
}

/** Any fixed number: the advisory lock "Signalbox migrates". */
const MIGRATION_LOCK_KEY = 7_311_094_203;
/** The advisory lock "Signalbox claims the database". Like the other one it ends with its transaction, so it works through PgBouncer. */
const NODES_LOCK_KEY = 7_311_094_204;

export const capabilities: Record<Engine, Capabilities> = {
  // SQLite's own order is binary, and every transaction here begins with the write lock.
  sqlite: {
    text: 'text',
    migrationLock: [],
    singleWriter: true,
    clustered: ' without rowid',
    nodesLock: [],
    tableExists: (name) => `exists (select 1 from sqlite_master where type = 'table' and name = '${name}')`,
  },
  postgres: {
    // Without it the server's locale would determine the order of ids and cursors.
    text: 'text collate "C"',
    // Building an index on a large table may exceed the timeout of requests.
    migrationLock: [`select pg_advisory_xact_lock(${MIGRATION_LOCK_KEY})`, 'set local statement_timeout = 0'],
    singleWriter: false,
    clustered: '',
    nodesLock: [`select pg_advisory_xact_lock(${NODES_LOCK_KEY})`],
    tableExists: (name) => `to_regclass('${name}') is not null`,
  },
};
