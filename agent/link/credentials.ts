import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { AgentError } from '../core/errors.ts';

/** What enrolment leaves on the agent's disk: who it is, and to whom. */
const credentialsSchema = z.object({
  server: z.url({ protocol: /^(https?|wss?)$/ }),
  agent_id: z.uuid(),
  secret: z.string().regex(/^[\x21-\x7e]{1,512}$/),
});

export type Credentials = z.infer<typeof credentialsSchema>;

/** @throws AgentError `invalid` naming the file */
export async function readCredentials(file: string): Promise<Credentials> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new AgentError('invalid', `no credentials in ${file}: enrol this agent first`, { cause: error });
  }
  try {
    return credentialsSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new AgentError('invalid', `${file} is not a credentials file`, { cause: error });
  }
}

/**
 * A file of mode 0600 that becomes the credentials in one step. Opened before the one-use token is spent: a folder
 * that cannot be written must not cost the token.
 */
export class CredentialsFile {
  readonly #file: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;

  private constructor(file: string, temporary: string, handle: FileHandle) {
    this.#file = file;
    this.#temporary = temporary;
    this.#handle = handle;
  }

  /** @throws AgentError `invalid` when there are credentials already, or the folder cannot be written */
  static async prepare(file: string): Promise<CredentialsFile> {
    if (await exists(file)) throw new AgentError('invalid', `${file} exists: this agent is enrolled already`);
    const temporary = `${file}.${randomBytes(6).toString('hex')}`;
    try {
      return new CredentialsFile(file, temporary, await open(temporary, 'wx', 0o600));
    } catch (error) {
      throw new AgentError('invalid', `${path.dirname(file)} cannot be written`, { cause: error });
    }
  }

  /** Writes, syncs the file and its folder. After this the secret survives a power cut. */
  async commit(credentials: Credentials): Promise<void> {
    await this.#handle.writeFile(`${JSON.stringify(credentials, null, 2)}\n`);
    await this.#handle.sync();
    await this.#handle.close();
    await rename(this.#temporary, this.#file);
    const folder = await open(path.dirname(this.#file), 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  /** Leaves nothing behind. */
  async abandon(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await rm(this.#temporary, { force: true });
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'r');
    await handle.close();
    return true;
  } catch {
    return false;
  }
}
