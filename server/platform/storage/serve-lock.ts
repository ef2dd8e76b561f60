import Database from 'better-sqlite3';
import { AppError } from '../core/errors.ts';

/**
 * Keeps a second control plane off a SQLite file: two would hand the same job to the same agent and know nothing of each
 * other's tunnels. The lock is one of the kernel, so it ends with the process however that dies. Administration
 * commands do not take it. PostgreSQL has no such lock: there one process is the operator's promise.
 * @returns releases the lock
 * @throws AppError `conflict` while another control plane serves this database
 */
export function lockForServing(databaseUrl: string): () => void {
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(databaseUrl)?.[1];
  if (file === undefined) return () => {};
  const lock = new Database(`${file}.serve-lock`, { timeout: 0 });
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    throw new AppError('conflict', `another control plane serves ${file}`, { cause: error });
  }
  return () => {
    lock.close();
  };
}
