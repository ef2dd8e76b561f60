import { randomBytes } from 'node:crypto';
import { access, constants, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AgentError } from './errors.ts';
import { fileErrorReason } from './file-errors.ts';
import { makeFolder } from './make-folder.ts';

/**
 * Creates the folder of the setting `state` if it is missing.
 * @throws AgentError `invalid` with the setting when the folder cannot be created or written
 */
export async function prepareStateFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusable(folder, error);
  }
}

/** Tests whether `run` could use the folder, and leaves nothing behind. @throws AgentError as {@link prepareStateFolder} */
export async function tryStateFolder(folder: string): Promise<void> {
  const testFile = path.join(folder, `try.${randomBytes(6).toString('hex')}`);
  let removeFolder = (): Promise<void> => Promise.resolve();
  try {
    removeFolder = await makeFolder(folder);
    await writeFile(testFile, '', { flag: 'wx', mode: 0o600 });
    await rm(testFile);
  } catch (error) {
    throw unusable(folder, error);
  } finally {
    await removeFolder();
  }
}

function unusable(folder: string, error: unknown): AgentError {
  return new AgentError('invalid', `state: ${folder} cannot be written: ${fileErrorReason(error)}`, { cause: error });
}
