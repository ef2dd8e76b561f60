import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { AppError } from '../core/errors.ts';
import { ConnectionLock } from './connection-lock.ts';
import type { Storage } from './db.ts';
import { GroupCommit, type Savepoint } from './group-commit.ts';
import { checkParameters } from './parameters.ts';
import type { Schema } from './schema.ts';
import { storageUnavailable, typedStorageError } from './storage-errors.ts';
import { WriteScope } from './write-scope.ts';

/** The product has fewer distinct statements than this; beyond it the least recently used is prepared again. */
const STATEMENT_LIMIT = 500;

const PAGE_BYTES = 4096;
/**
 * A checkpoint writes every page that changed since the last one to the database, and the caller whose commit begins it waits. When a fleet comes
 * at once, the same pages change in each commit: with the 1,000 pages that SQLite has by itself, ten thousand agents cost a fifth more CPU.
 * The log takes up to 64 MB of disk for it, and somewhat more while a reader is at work.
 */
const CHECKPOINT_PAGES = 16_000;

/** Timeouts of this engine, milliseconds. */
export interface SqliteLimits {
  /** For another process that writes, such as an administration command. */
  busyMs: number;
  /** For one group commit to run its writes, which only query: a query takes well under a millisecond. */
  batchMs: number;
  /** For the connection; above the two others together. */
  lockMs: number;
}

const DEFAULT_LIMITS: SqliteLimits = { busyMs: 5000, batchMs: 10_000, lockMs: 20_000 };

/** Prepared statements by SQL text: stock Kysely prepares anew for each query, which costs more than most queries. */
class StatementCache {
  readonly #database: Database.Database;
  readonly #statements = new LRUCache<string, Database.Statement>({ max: STATEMENT_LIMIT });

  constructor(database: Database.Database) {
    this.#database = database;
  }

  prepare(sql: string): Database.Statement {
    const known = this.#statements.get(sql);
    // A busy statement is in use further up the stack: running it again would restart it there.
    if (known !== undefined && !known.busy) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** The connections of one file. */
interface Connections {
  /** Writes and transactions, one at a time. */
  writer: StatementCache;
  /** Single reads, which see what is committed and wait for no transaction. Undefined in memory, where there is one connection. */
  reader: StatementCache | undefined;
  lock: ConnectionLock;
}

/** One query, or one transaction: each has its own. */
class SqliteConnection implements DatabaseConnection {
  readonly #connections: Connections;
  #isHeld = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** From now on all queries are of this transaction, until {@link release}. */
  async hold(): Promise<void> {
    await this.#connections.lock.acquire();
    this.#isHeld = true;
  }

  release(): void {
    if (this.#isHeld) this.#connections.lock.release();
    this.#isHeld = false;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { writer, reader, lock } = this.#connections;
    if (this.#isHeld) return run(writer, query);
    if (reader && isRead(query, reader)) return run(reader, query);
    await lock.acquire();
    try {
      return run(writer, query);
    } finally {
      lock.release();
    }
  }

  /** A stream would keep its connection as long as its reader takes. Read pages, as on PostgreSQL. */
  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new AppError('internal', 'queries are not streamed: read pages');
  }
}

/** @throws the storage error */
function run<R>(statements: StatementCache, query: CompiledQuery): QueryResult<R> {
  try {
    checkParameters(query.parameters);
    const statement = statements.prepare(query.sql);
    if (statement.reader) return { rows: statement.all(query.parameters) as R[] };
    const { changes, lastInsertRowid } = statement.run(query.parameters);
    return { insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes), rows: [] };
  } catch (error) {
    throw typedStorageError(error);
  }
}

/** Other raw statements, such as pragmas, belong to the connection that writes. */
function isRead({ query: { kind }, sql }: CompiledQuery, reader: StatementCache): boolean {
  if (kind === 'SelectQueryNode') return true;
  return kind === 'RawNode' && /^\s*(?:select|with)\b/i.test(sql) && isReadonly(reader, sql);
}

/** What cannot be prepared fails where it runs, with the right error. */
function isReadonly(statements: StatementCache, sql: string): boolean {
  try {
    return statements.prepare(sql).readonly;
  } catch {
    return false;
  }
}

/**
 * Kysely's driver. The lock is taken here rather than by Kysely, after the write scope has been checked: a query that would wait for its own
 * transaction is refused instead of hanging.
 */
class SqliteDriver implements Driver {
  readonly #database: Database.Database;
  readonly #connections: Connections;
  readonly #scope: WriteScope;

  constructor(database: Database.Database, connections: Connections, scope: WriteScope) {
    this.#database = database;
    this.#connections = connections;
    this.#scope = scope;
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    this.#scope.assertOutside();
    return new SqliteConnection(this.#connections);
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as SqliteConnection).release();
  }

  /**
   * IMMEDIATE: a transaction that reads first and writes later would otherwise fail when another process writes in between.
   * A read-only one takes a snapshot and does not block writers.
   */
  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await (connection as SqliteConnection).hold();
    await connection.executeQuery(rawQuery(settings.accessMode === 'read only' ? 'begin' : 'begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(rawQuery('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // After a full disk or an I/O error SQLite has rolled back by itself, and a second ROLLBACK would be the error reported.
    if (this.#database.inTransaction) await connection.executeQuery(rawQuery('rollback'));
  }

  destroy(): Promise<void> {
    return Promise.resolve();
  }
}

function rawQuery(sql: string): CompiledQuery {
  return { sql, parameters: [], query: { kind: 'RawNode' } } as unknown as CompiledQuery;
}

class LockedSqliteAdapter extends SqliteAdapter {
  /** True only to keep Kysely from adding a lock of its own in front of {@link SqliteDriver}'s. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

function sqliteDialect(database: Database.Database, connections: Connections, scope: WriteScope): Dialect {
  return {
    createDriver: () => new SqliteDriver(database, connections, scope),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new LockedSqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** Creates the file with private permissions from the start. WAL files inherit its mode. */
function makePrivateFile(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

function openDatabase(file: string, busyMs: number): Database.Database {
  if (file !== ':memory:') makePrivateFile(file);
  const database = new Database(file, { timeout: busyMs });
  database.pragma('journal_mode = WAL');
  // WAL alone syncs only at checkpoints: a power failure could lose an acknowledged job.
  database.pragma('synchronous = FULL');
  database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  // After a long reader has kept the log growing, its file shrinks again.
  database.pragma(`journal_size_limit = ${CHECKPOINT_PAGES * PAGE_BYTES}`);
  database.pragma('foreign_keys = ON');
  return database;
}

/** @returns undefined in memory: a second connection would be another database */
function openReader(file: string, busyMs: number): Database.Database | undefined {
  if (file === ':memory:') return undefined;
  const database = new Database(file, { timeout: busyMs });
  database.pragma('query_only = ON');
  return database;
}

function savepointOn(database: Database.Database): Savepoint {
  return {
    set: database.prepare('savepoint one_write'),
    undo: database.prepare('rollback to one_write'),
    release: database.prepare('release one_write'),
    isOpen: () => database.inTransaction,
  };
}

/**
 * Opens a SQLite file (made when missing, mode 0600) or `:memory:`.
 * @throws AppError `unavailable` when the file cannot be opened
 */
export function openSqlite(file: string, limits: SqliteLimits = DEFAULT_LIMITS): Storage {
  const opened: Database.Database[] = [];
  try {
    opened.push(openDatabase(file, limits.busyMs));
    const reader = openReader(file, limits.busyMs);
    if (reader) opened.push(reader);
  } catch (error) {
    for (const database of opened) database.close();
    throw storageUnavailable(error);
  }
  const [database, reader] = opened as [Database.Database, Database.Database | undefined];
  const scope = new WriteScope();
  const connections = {
    writer: new StatementCache(database),
    reader: reader && new StatementCache(reader),
    lock: new ConnectionLock(limits.lockMs),
  };
  const db = new Kysely<Schema>({ dialect: sqliteDialect(database, connections, scope) });
  const writes = new GroupCommit(db, scope, savepointOn(database), limits.batchMs);
  return {
    db,
    writes,
    engine: 'sqlite',
    close: async () => {
      await writes.close();
      await db.destroy();
      // The writer last: it takes the log into the database.
      reader?.close();
      database.close();
    },
  };
}
