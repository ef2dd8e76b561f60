import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AgentError } from '../../core/errors.ts';

const LOCK_FILE = 'agent.lock';
/** Of SQLite: somebody else has the lock. */
const BUSY = 5;

export interface FolderLock {
  release(): void;
}

/**
 * Keeps a second agent out of the state folder: two agents on one journal would run jobs twice. The lock is SQLite's
 * (a lock of the kernel on the file), so it ends with the process however that dies, and holds between containers
 * that share the folder, where process ids say nothing.
 * @throws AgentError `not_allowed` when another agent has the folder, `internal` when it cannot be used
 */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = openLockFile(folder);
  try {
    // Without a file of its own for undoing, the lock can also be had on a full disk: results must get out.
    database.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== BUSY) throw unusable(folder, error);
    throw new AgentError('not_allowed', `another agent is using the state folder ${folder}`, { cause: error });
  }
  return { release: () => database.close() };
}

function openLockFile(folder: string): DatabaseSync {
  try {
    return new DatabaseSync(path.join(folder, LOCK_FILE), { timeout: 0 });
  } catch (error) {
    throw unusable(folder, error);
  }
}

function unusable(folder: string, error: unknown): AgentError {
  return new AgentError(
    'internal',
    `the state folder ${folder} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    { cause: error },
  );
}
