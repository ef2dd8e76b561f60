import { randomBytes } from 'node:crypto';
import { lstat, open, readFile, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import * as z from 'zod';
import { AgentError } from '../core/errors.ts';
import { errorCode, fileErrorReason } from '../core/file-errors.ts';
import { makeFolder } from '../core/make-folder.ts';
import { syncFolder } from '../core/sync-folder.ts';

/** The result of enrolment on the agent's disk. */
const credentialsSchema = z.object({
  server: z.url({ protocol: /^(https?|wss?)$/ }),
  agent_id: z.uuid(),
  secret: z.string().regex(/^[\x21-\x7e]{1,512}$/),
});

export type Credentials = z.infer<typeof credentialsSchema>;

/** @throws AgentError `invalid` with the file, and whether it is missing, unreadable or damaged */
export async function readCredentials(file: string): Promise<Credentials> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new AgentError('invalid', describeReadError(file, error), { cause: error });
  }
  try {
    return credentialsSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new AgentError('invalid', `${file} is damaged or not a credentials file: restore it from a copy, or enrol again`, {
      cause: error,
    });
  }
}

function describeReadError(file: string, error: unknown): string {
  switch (errorCode(error)) {
    case 'ENOENT':
      return `no credentials in ${file}: enrol this agent first`;
    case 'EACCES':
      return `${file}: this user (uid ${process.geteuid?.()}) may not read it`;
    default:
      return `${file} cannot be read: ${fileErrorReason(error)}`;
  }
}

/**
 * A file of mode 0600 that becomes the credentials file atomically. Opened before the one-use token is used: a folder that cannot be
 * written must not waste the token.
 */
export class CredentialsFile {
  readonly #file: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  readonly #removeFolder: () => Promise<void>;

  private constructor(file: string, temporary: string, handle: FileHandle, removeFolder: () => Promise<void>) {
    this.#file = file;
    this.#temporary = temporary;
    this.#handle = handle;
    this.#removeFolder = removeFolder;
  }

  /**
   * Creates the folder if it is missing.
   * @throws AgentError `invalid` when credentials exist already, or the folder cannot be created or written
   */
  static async prepare(file: string): Promise<CredentialsFile> {
    if (await exists(file)) throw new AgentError('invalid', `${file} exists: this agent is already enrolled`);
    const temporary = `${file}.${randomBytes(6).toString('hex')}`;
    let removeFolder = (): Promise<void> => Promise.resolve();
    try {
      removeFolder = await makeFolder(path.dirname(file));
      return new CredentialsFile(file, temporary, await open(temporary, 'wx', 0o600), removeFolder);
    } catch (error) {
      await removeFolder();
      throw new AgentError('invalid', `${path.dirname(file)} cannot be written: ${fileErrorReason(error)}`, { cause: error });
    }
  }

  /** Writes the file and flushes it and its folder. Afterwards the secret survives a power failure. */
  async commit(credentials: Credentials): Promise<void> {
    await this.#handle.writeFile(`${JSON.stringify(credentials, null, 2)}\n`);
    await this.#handle.sync();
    await this.#handle.close();
    await rename(this.#temporary, this.#file);
    await syncFolder(path.dirname(this.#file));
  }

  /** Leaves nothing behind. */
  async abandon(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await rm(this.#temporary, { force: true });
    await this.#removeFolder();
  }
}

/** True also for a file that this user may not open: it must not be replaced. */
async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}
