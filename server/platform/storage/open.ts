import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Storage } from './db.ts';
import { openPostgres } from './postgres.ts';
import type { PostgresLimits } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

/**
 * Opens the database at `sqlite:<file>`, `sqlite::memory:` or `postgres://…`. It is not migrated here: see migrate.ts.
 * @throws AppError `invalid` for another kind of address, `unavailable` when it cannot be opened
 */
export async function openStorage(url: string, { log, limits }: { log: Log; limits?: PostgresLimits }): Promise<Storage> {
  if (url.startsWith('sqlite:') && url.length > 'sqlite:'.length) return openSqlite(url.slice('sqlite:'.length));
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url, log, limits);
  // The address itself may hold a password.
  throw new AppError('invalid', 'the database address must start with sqlite: or postgres://');
}
