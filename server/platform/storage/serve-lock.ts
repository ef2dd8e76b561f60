import Database from 'better-sqlite3';
import { AppError } from '../core/errors.ts';

/**
 * Prevents two control planes from serving one SQLite file: they would offer the same job to the same agent and not know each
 * other's tunnels. The kernel holds the lock, so it ends with the process in every case. Administration commands do not take
 * it. On PostgreSQL the table `nodes` does the same: see platform/nodes/claim.ts.
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
