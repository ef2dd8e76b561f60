import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AgentError } from '../../core/errors.ts';

const LOCK_FILE = 'agent.lock';
/** SQLite error code: another process has the lock. */
const BUSY = 5;

export interface FolderLock {
  release(): void;
}

/**
 * Locks the state folder against a second agent: two agents on one journal would run jobs twice. It uses SQLite's lock (a kernel
 * lock on the file), which ends with the process in any case, and works between containers that share the folder, where process
 * ids are useless.
 * @throws AgentError `not_allowed` when another agent has the folder, `internal` when it cannot be used
 */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = openLockFile(folder);
  try {
    // Without a rollback file the lock works on a full disk too: the agent must still report results then.
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
