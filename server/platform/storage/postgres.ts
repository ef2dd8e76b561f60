import { type CompiledQuery, type DatabaseConnection, Kysely, PostgresDialect, PostgresDriver } from 'kysely';
import { type CustomTypesConfig, Pool, types as pgTypes } from 'pg';
import { isInSlot } from '../core/admission-slot.ts';
import type { Log } from '../core/log.ts';
import { ConnectionShares } from './connection-shares.ts';
import type { ConnectionUse } from './connection-shares.ts';
import type { Storage } from './db.ts';
import { DatabaseWatch } from './database-watch.ts';
import { OwnTransaction } from './own-transaction.ts';
import { checkParameters } from './parameters.ts';
import { commitError, guardConnection } from './postgres-client.ts';
import type { Schema } from './schema.ts';
import { meansUnavailable, storageUnavailable } from './storage-errors.ts';
import { WriteScope } from './write-scope.ts';

/** A stock server allows 100 connections; this leaves room for several nodes and the administration commands. */
const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5000;
const IDLE_TIMEOUT_MS = 30_000;
/** No statement of the product takes a second; these timeouts end statements that a failing database or network blocks. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** Also a reading one that begins with `with`: refusing it does no harm. */
const CHANGES_DATA = /^\s*(?:insert|update|delete|with)\b/i;
/** Longer than a statement, for an answer to arrive: then the connection is given up. */
const ANSWER_MS = 5000;
const IDLE_IN_TRANSACTION_MS = 15_000;
const LOCK_TIMEOUT_MS = 10_000;
/** Connections lost within this time cause one log line. */
const QUIET_MS = 10_000;

const { builtins } = pgTypes;
/** Milliseconds, byte counts and count(*) are int8 and sums are numeric, which pg returns as text. */
const NUMBERS = new Set<number>([builtins.INT8, builtins.NUMERIC]);

function toNumber(text: string): number {
  return Number(text);
}

const types: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => (NUMBERS.has(oid) ? toNumber : pgTypes.getTypeParser(oid, format)),
};

/** The stock driver with the same checks and the same errors as the SQLite one. */
class CheckedPostgresDriver extends PostgresDriver {
  readonly #checked = new WeakSet<DatabaseConnection>();
  readonly #scope: WriteScope;
  readonly #watch: DatabaseWatch;
  readonly #shares: ConnectionShares;
  readonly #mayWrite: (() => void) | undefined;
  /** Whom each connection in use serves. */
  readonly #uses = new Map<DatabaseConnection, ConnectionUse>();

  constructor({ pool, scope, watch, mayWrite }: DriverDeps) {
    super({ pool });
    this.#mayWrite = mayWrite;
    this.#scope = scope;
    this.#watch = watch;
    this.#shares = new ConnectionShares(pool.options.max);
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#scope.assertOutside();
    if (this.#watch.isAway) throw storageUnavailable(undefined);
    const use = isInSlot() ? 'request' : 'own';
    await this.#shares.acquire(use);
    try {
      const connection = await this.#connect();
      this.#uses.set(connection, use);
      return connection;
    } catch (error) {
      this.#shares.release(use);
      throw error;
    }
  }

  async #connect(): Promise<DatabaseConnection> {
    // It may have gone away during the wait.
    if (this.#watch.isAway) throw storageUnavailable(undefined);
    const connection = await super.acquireConnection().catch((error: unknown) => {
      if (meansUnavailable(error)) this.#watch.lost(error);
      throw storageUnavailable(error);
    });
    if (!this.#checked.has(connection)) this.#check(connection);
    return connection;
  }

  override async releaseConnection(connection: PostgresConnection): Promise<void> {
    const use = this.#uses.get(connection);
    this.#uses.delete(connection);
    try {
      await super.releaseConnection(connection);
    } finally {
      if (use !== undefined) this.#shares.release(use);
    }
  }

  override async commitTransaction(connection: PostgresConnection): Promise<void> {
    this.#mayWrite?.();
    await super.commitTransaction(connection).catch((error: unknown) => {
      throw commitError(error);
    });
  }

  /** A failed rollback has closed the connection, which also rolls back; callers get the original error. */
  override async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => undefined);
  }

  /** Kysely's own connection object has to stay (the driver keeps private state on it), so its method is replaced. */
  #check(connection: DatabaseConnection): void {
    const execute = connection.executeQuery.bind(connection);
    connection.executeQuery = async <R>(query: CompiledQuery) => {
      if (this.#mayWrite && CHANGES_DATA.test(query.sql)) this.#mayWrite();
      checkParameters(query.parameters);
      return execute<R>(query);
    };
    this.#checked.add(connection);
  }
}

type PostgresConnection = Parameters<PostgresDriver['rollbackTransaction']>[0];

interface DriverDeps {
  pool: Pool;
  scope: WriteScope;
  watch: DatabaseWatch;
  mayWrite: (() => void) | undefined;
}

class CheckedPostgresDialect extends PostgresDialect {
  readonly #deps: DriverDeps;

  constructor(deps: DriverDeps) {
    super({ pool: deps.pool });
    this.#deps = deps;
  }

  override createDriver(): PostgresDriver {
    return new CheckedPostgresDriver(this.#deps);
  }
}

/** Removes our own parameter `pool_max` from the address: the maximum number of connections of this node. */
function readPoolMax(address: string): { connectionString: string; max: number } {
  const match = /[?&]pool_max=([0-9]+)(?=&|$)/.exec(address);
  if (match === null) return { connectionString: address, max: POOL_SIZE };
  const rest = address.replace(match[0], '');
  const connectionString = rest.includes('?') ? rest : rest.replace('&', '?');
  return { connectionString, max: Math.max(1, Number(match[1])) };
}

/** For a use that must neither wait for others nor wait long. */
export interface PostgresLimits {
  /** Instead of those of the address. */
  connections?: number;
  /** Longest statement, milliseconds; 30 s by default. */
  statementMs?: number;
  /** Longest wait for its answer beyond that, milliseconds; 5 s by default. */
  answerMs?: number;
  /** Longest pause within a transaction, milliseconds; 15 s by default. The database then rolls it back. */
  idleInTransactionMs?: number;
  /** Asked before each statement that changes data and before each commit. It throws when there must be none. */
  mayWrite?: () => void;
}

/**
 * Opens a pool on a `postgres://` address, of ten connections unless it says `?pool_max=N`.
 * Connects lazily: the first query shows whether the server is reachable.
 */
export function openPostgres(address: string, log: Log, limits: PostgresLimits = {}): Storage {
  const { connectionString, max } = readPoolMax(address);
  const { connections = max, statementMs = STATEMENT_TIMEOUT_MS, answerMs = ANSWER_MS, mayWrite } = limits;
  const { idleInTransactionMs = IDLE_IN_TRANSACTION_MS } = limits;
  const pool = new Pool({
    connectionString,
    max: connections,
    types,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: statementMs,
    query_timeout: statementMs + answerMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    lock_timeout: LOCK_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'signalbox',
  });
  pool.on('connect', guardConnection);
  // An idle connection that breaks is replaced at the next query. A restart of the server breaks all of them at once.
  let toldAt = Number.NEGATIVE_INFINITY;
  pool.on('error', (error) => {
    const isNews = performance.now() - toldAt > QUIET_MS;
    if (isNews) toldAt = performance.now();
    log[isNews ? 'warn' : 'debug']({ err: error, component: 'storage' }, 'lost an idle database connection');
  });
  const watch = new DatabaseWatch({ probe: () => probe(pool), log });
  const scope = new WriteScope();
  const db = new Kysely<Schema>({ dialect: new CheckedPostgresDialect({ pool, scope, watch, mayWrite }) });
  const writes = new OwnTransaction(db, scope);
  return {
    db,
    writes,
    engine: 'postgres',
    close: async () => {
      await writes.close();
      await watch.stop();
      await db.destroy();
      if (!pool.ended) await pool.end();
    },
  };
}

async function probe(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('select 1');
  } finally {
    client.release();
  }
}
