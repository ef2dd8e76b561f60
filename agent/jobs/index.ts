import { JournalFile } from './journal/disk.ts';
import { lockFolder } from './journal/folder-lock.ts';
import { Journal } from './journal/journal.ts';
import { JobRunner } from './runner.ts';
import type { RunnerDeps } from './runner.ts';

export { createBackupHandlers } from './backup/requests.ts';
export { JobRunner } from './runner.ts';

/**
 * Locks the state folder, opens its journal, and continues the jobs of an earlier process.
 * @throws AgentError `not_allowed` when another agent uses the folder, `internal` when the journal is damaged
 */
export async function openJobRunner(deps: Omit<RunnerDeps, 'journal'> & { stateFolder: string }): Promise<JobRunner> {
  const lock = lockFolder(deps.stateFolder);
  try {
    const journal = await Journal.open(new JournalFile(deps.stateFolder, lock));
    const runner = new JobRunner({ ...deps, journal });
    runner.start();
    return runner;
  } catch (error) {
    lock.release();
    throw error;
  }
}
