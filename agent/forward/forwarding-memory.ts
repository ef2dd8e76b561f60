import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { syncFolder } from '../core/sync-folder.ts';

const recordSchema = z.object({
  /** Value of `forwarding-enabled` before the agent changed it. */
  previous: z.string().min(1).max(16),
  hardwareId: z.string().max(128),
});

export type ForwardingRecord = z.infer<typeof recordSchema>;

/** What has to be set back on which router, one small file each in the agent's state folder. */
export class ForwardingMemory {
  readonly #folder: string;

  constructor(stateFolder: string) {
    this.#folder = path.join(stateFolder, 'ssh-forwarding');
  }

  /** An unreadable file counts as none: it was cut short before anything was changed. */
  async read(router: string): Promise<ForwardingRecord | undefined> {
    try {
      return recordSchema.safeParse(JSON.parse(await readFile(this.#file(router), 'utf8'))).data;
    } catch {
      return undefined;
    }
  }

  /** On disk when it resolves. */
  async write(router: string, record: ForwardingRecord): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const draft = `${this.#file(router)}.new`;
    await writeFile(draft, JSON.stringify(record), { mode: 0o600, flush: true });
    await rename(draft, this.#file(router));
    await syncFolder(this.#folder);
  }

  async forget(router: string): Promise<void> {
    await rm(this.#file(router), { force: true });
  }

  /** The name may hold any character. */
  #file(router: string): string {
    return path.join(this.#folder, `${encodeURIComponent(router)}.json`);
  }
}
