import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { stateUnwritable } from '../core/file-errors.ts';
import { fileNameOf } from '../core/file-name.ts';
import { syncFolder } from '../core/sync-folder.ts';

/** With the ending of the draft it is as long as a file's name may be. */
const LONGEST_NAME = 245;

const recordSchema = z.object({
  /** Value of `forwarding-enabled` before the agent changed it. */
  previous: z.string().min(1).max(16),
  /** What the agent set instead; records of earlier agents did not tell. */
  set: z.string().min(1).max(16).optional(),
  hardwareId: z.string().max(128),
});

export type ForwardingRecord = z.infer<typeof recordSchema>;

/** One device under one name of the agent's configuration, which another may have borne before and may bear again. */
export interface NamedDevice {
  router: string;
  hardwareId: string;
}

/** What has to be set back on which device, one small file each in the agent's state folder. */
export class ForwardingMemory {
  readonly #folder: string;

  constructor(stateFolder: string) {
    this.#folder = path.join(stateFolder, 'ssh-forwarding');
  }

  /** An unreadable file counts as none: it was cut short before anything was changed. */
  async read(device: NamedDevice): Promise<ForwardingRecord | undefined> {
    for (const file of [this.#file(device), this.#oldFile(device)]) {
      const record = await readRecord(file);
      if (record?.hardwareId === device.hardwareId) return record;
    }
    return undefined;
  }

  /** On disk when it resolves. @throws AgentError `internal`; then nothing new is there */
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

  /** The records of other devices stay. */
  async forget(device: NamedDevice): Promise<void> {
    await rm(this.#file(device), { force: true });
    const old = await readRecord(this.#oldFile(device));
    // One without a device never told anybody what to set back where.
    if (old?.hardwareId === device.hardwareId || old?.hardwareId === '') await rm(this.#oldFile(device), { force: true });
  }

  /** Both may hold any character; none of them becomes the `@`. */
  #file({ router, hardwareId }: NamedDevice): string {
    return path.join(this.#folder, `${fileNameOf(`${encodeURIComponent(router)}@${encodeURIComponent(hardwareId)}`, LONGEST_NAME)}.json`);
  }

  /** Where agents kept one record for each name, before they told devices apart. */
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
