import { type CompiledQuery, type DatabaseConnection, Kysely, PostgresDialect, PostgresDriver } from 'kysely';
import { type CustomTypesConfig, Pool, types as pgTypes } from 'pg';
import type { Log } from '../core/log.ts';
import type { Storage } from './db.ts';
import { OwnTransaction } from './own-transaction.ts';
import { checkParameters } from './parameters.ts';
import type { Schema } from './schema.ts';
import { storageUnavailable, typedStorageError } from './storage-errors.ts';
import { WriteScope } from './write-scope.ts';

/** A stock server allows 100 connections; this leaves room for several nodes and the administration commands. */
const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5000;
const IDLE_TIMEOUT_MS = 30_000;
/** No statement of the product takes a second; these end what a sick database or network would hold for ever. */
const STATEMENT_TIMEOUT_MS = 30_000;
const QUERY_TIMEOUT_MS = 35_000;
const IDLE_IN_TRANSACTION_MS = 15_000;
const LOCK_TIMEOUT_MS = 10_000;

const { builtins } = pgTypes;
/** Milliseconds, byte counts and count(*) come as int8 and sums as numeric, which pg hands out as text. */
const NUMBERS = new Set<number>([builtins.INT8, builtins.NUMERIC]);

function toNumber(text: string): number {
  return Number(text);
}

const types: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    NUMBERS.has(oid) ? toNumber : pgTypes.getTypeParser(oid, format),
};

/** The stock driver with the same checks and the same errors as the SQLite one. */
class CheckedPostgresDriver extends PostgresDriver {
  readonly #checked = new WeakSet<DatabaseConnection>();
  readonly #scope: WriteScope;

  constructor(pool: Pool, scope: WriteScope) {
    super({ pool });
    this.#scope = scope;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#scope.assertOutside();
    const connection = await super.acquireConnection().catch((error: unknown) => {
      throw storageUnavailable(error);
    });
    if (!this.#checked.has(connection)) this.#check(connection);
    return connection;
  }

  /** Kysely's own connection object has to stay (the driver keeps private state on it), so its method is replaced. */
  #check(connection: DatabaseConnection): void {
    const execute = connection.executeQuery.bind(connection);
    connection.executeQuery = async <R>(query: CompiledQuery) => {
      checkParameters(query.parameters);
      return execute<R>(query).catch((error: unknown) => {
        throw typedStorageError(error);
      });
    };
    this.#checked.add(connection);
  }
}

class CheckedPostgresDialect extends PostgresDialect {
  readonly #pool: Pool;
  readonly #scope: WriteScope;

  constructor(pool: Pool, scope: WriteScope) {
    super({ pool });
    this.#pool = pool;
    this.#scope = scope;
  }

  override createDriver(): PostgresDriver {
    return new CheckedPostgresDriver(this.#pool, this.#scope);
  }
}

/** Takes our own `pool_max` out of the address: how many connections this node may hold. */
function readPoolMax(address: string): { connectionString: string; max: number } {
  const match = /[?&]pool_max=([0-9]+)(?=&|$)/.exec(address);
  if (match === null) return { connectionString: address, max: POOL_SIZE };
  const rest = address.replace(match[0], '');
  const connectionString = rest.includes('?') ? rest : rest.replace('&', '?');
  return { connectionString, max: Math.max(1, Number(match[1])) };
}

/**
 * Opens a pool on a `postgres://` address, of ten connections unless it says `?pool_max=N`.
 * Connects lazily: the first query tells whether the server is there.
 */
export function openPostgres(address: string, log: Log): Storage {
  const pool = new Pool({
    ...readPoolMax(address),
    types,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'signalbox',
  });
  // An idle connection that breaks is replaced at the next query; unheard, the event would end the process.
  pool.on('error', (error) => log.warn({ err: error, component: 'storage' }, 'lost an idle database connection'));
  const scope = new WriteScope();
  const db = new Kysely<Schema>({ dialect: new CheckedPostgresDialect(pool, scope) });
  const writes = new OwnTransaction(db, scope);
  return {
    db,
    writes,
    engine: 'postgres',
    close: async () => {
      await writes.close();
      await db.destroy();
      if (!pool.ended) await pool.end();
    },
  };
}
