import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AgentError } from '../../core/errors.ts';

const LOCK_FILE = 'agent.lock';

export interface FolderLock {
  release(): void;
}

/**
 * Keeps a second agent out of the state folder: two agents on one journal would run jobs twice. The lock is SQLite's
 * (a lock of the kernel on the file), so it ends with the process however that dies, and holds between containers
 * that share the folder, where process ids say nothing.
 * @throws AgentError `not_allowed` when another agent has the folder
 */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(path.join(folder, LOCK_FILE), { timeout: 0 });
  try {
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    throw new AgentError('not_allowed', `another agent is using the state folder ${folder}`, { cause: error });
  }
  return { release: () => database.close() };
}
