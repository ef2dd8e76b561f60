import { AppError } from '../core/errors.ts';

const UNIQUE_CODES = new Set(['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', '23505']);

/**
 * SQLite result codes (with extended ones, hence the prefix match) and PostgreSQL SQLSTATE classes for temporary
 * failures: the disk is full, another process holds the lock, the server is unavailable. A later retry can succeed.
 */
const UNAVAILABLE_SQLITE = ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_READONLY', 'SQLITE_CANTOPEN'];
const UNAVAILABLE_POSTGRES = ['08', '40', '53', '55', '57', '58'];
/**
 * Temporary failures of another class: the server ended a transaction that was idle for too long, because the statements were
 * lost on the way (25P03, 25P04), or it is currently a standby (25006).
 */
const UNAVAILABLE_TRANSACTIONS = ['25P03', '25P04', '25006'];
const UNAVAILABLE_NETWORK = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'ENOENT', 'EAI_AGAIN'];

/** The engine's error code, if any. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** True when a write violated a unique index or primary key. */
export function isUnique(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && UNIQUE_CODES.has(code);
}

/** True when a write referenced a record that does not exist, or deleted one that is still referenced. */
export function isForeignKey(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || code === '23503';
}

function isUnavailable(code: string): boolean {
  if (UNAVAILABLE_NETWORK.includes(code) || UNAVAILABLE_TRANSACTIONS.includes(code)) return true;
  if (code.startsWith('SQLITE_')) return UNAVAILABLE_SQLITE.some((prefix) => code.startsWith(prefix));
  return code.length === 5 && UNAVAILABLE_POSTGRES.includes(code.slice(0, 2));
}

/**
 * True when a new connection failed because no server is available: none listens, it is starting or stopping (57P), or
 * it does not respond (pg wraps that). A timeout of the pool has neither code nor cause.
 */
export function meansUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return error instanceof Error && error.cause !== undefined;
  return UNAVAILABLE_NETWORK.includes(code) || code.startsWith('08') || code.startsWith('57P');
}

/** True when another transaction was in the way (a deadlock, or a lock that it held for too long): nothing was written, the next try may do. */
export function isContended(error: unknown): boolean {
  const code = codeOf(error instanceof AppError ? error.cause : error);
  return code !== undefined && (code.startsWith('40') || code === '55P03');
}

/**
 * True when several writes in one transaction would fail by themselves, too, or may be stored: the database is away, or its answer was lost.
 * Otherwise one of them may have been refused, or have waited for too long, and the others can be stored.
 */
export function concernsAll(error: unknown): boolean {
  const isAway = error instanceof AppError && (error.code === 'unavailable' || error.code === 'outcome_unknown');
  return isAway && !isContended(error);
}

/** True for errors that an administrator must fix: a wrong password or role (28), no such database (3D). */
export function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return code?.length === 5 && (code.startsWith('28') || code.startsWith('3D'));
}

/** For a read or write that did not happen and may be retried. */
export function storageUnavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'the database cannot be used at the moment', { cause });
}

/** Converts an engine's temporary error to an {@link AppError}; other errors stay unchanged. */
export function typedStorageError(error: unknown): Error {
  if (!(error instanceof Error)) return storageUnavailable(error);
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  return code !== undefined && isUnavailable(code) ? storageUnavailable(error) : error;
}
