import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { stateUnwritable } from '../core/file-errors.ts';
import { fileNameOf } from '../core/file-name.ts';
import { syncFolder } from '../core/sync-folder.ts';

/** With the draft's suffix it has the largest length of a file name. */
const LONGEST_NAME = 245;

const recordSchema = z.object({
  /** Value of `forwarding-enabled` before the agent changed it. */
  previous: z.string().min(1).max(16),
  /** The value that the agent set; absent in records of older agents. */
  set: z.string().min(1).max(16).optional(),
  hardwareId: z.string().max(128),
});

export type ForwardingRecord = z.infer<typeof recordSchema>;

/** A device and its router name in the agent's configuration. Another device may have the same name at another time. */
export interface NamedDevice {
  router: string;
  hardwareId: string;
}

/** Values of `forwarding-enabled` to restore, in one file per device in the agent's state folder. */
export class ForwardingMemory {
  readonly #folder: string;

  constructor(stateFolder: string) {
    this.#folder = path.join(stateFolder, 'ssh-forwarding');
  }

  /** An unreadable file counts as none: its writing was interrupted before anything was changed on the router. */
  async read(device: NamedDevice): Promise<ForwardingRecord | undefined> {
    for (const file of [this.#file(device), this.#oldFile(device)]) {
      const record = await readRecord(file);
      if (record?.hardwareId === device.hardwareId) return record;
    }
    return undefined;
  }

  /** The record is on disk when it resolves. @throws AgentError `internal`; nothing has changed then */
  async write(device: NamedDevice, change: { previous: string; set: string }): Promise<void> {
    const draft = `${this.#file(device)}.new`;
    const record: ForwardingRecord = { ...change, hardwareId: device.hardwareId };
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await writeFile(draft, JSON.stringify(record), { mode: 0o600, flush: true });
      await rename(draft, this.#file(device));
      await syncFolder(this.#folder);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw stateUnwritable(error);
    }
  }

  /** Removes the record of this device only. */
  async forget(device: NamedDevice): Promise<void> {
    await rm(this.#file(device), { force: true });
    const old = await readRecord(this.#oldFile(device));
    // A record without a device was never used.
    if (old?.hardwareId === device.hardwareId || old?.hardwareId === '') await rm(this.#oldFile(device), { force: true });
  }

  /** Name and id may hold any character; encoded, neither contains `@`. */
  #file({ router, hardwareId }: NamedDevice): string {
    return path.join(this.#folder, `${fileNameOf(`${encodeURIComponent(router)}@${encodeURIComponent(hardwareId)}`, LONGEST_NAME)}.json`);
  }

  /** The file of older agents, which kept one record per name. */
  #oldFile({ router }: NamedDevice): string {
    return path.join(this.#folder, `${fileNameOf(encodeURIComponent(router), LONGEST_NAME)}.json`);
  }
}

async function readRecord(file: string): Promise<ForwardingRecord | undefined> {
  try {
    return recordSchema.safeParse(JSON.parse(await readFile(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}
