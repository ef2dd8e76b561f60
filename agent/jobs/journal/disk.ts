import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import { syncFolder } from '../../core/sync-folder.ts';

/** The storage of a journal. An interface, so that tests can simulate a power failure between any two bytes. */
export interface JournalDisk {
  /** A flush failed, so the content of the disk is unknown: only {@link replace} or a restart helps. */
  readonly isDoubtful?: boolean;
  /** Undefined when there is no journal yet. */
  read(): Promise<Buffer | undefined>;
  /** Truncates the file after its last valid line. */
  truncate(bytes: number): Promise<void>;
  /**
   * The line is on the disk when this resolves. When it rejects with `internal`, the file is as it was before.
   * @throws AgentError `internal` when the disk is full or failing
   */
  append(line: Buffer): Promise<void>;
  /** The new content is on the disk when this resolves; at any time either the old or the new file exists. */
  replace(content: Buffer): Promise<void>;
  close(): Promise<void>;
}

const FILE = 'jobs.journal';
const NEW_FILE = 'jobs.journal.new';

/** A journal file in the agent's state folder. The caller must serialize operations. */
export class JournalFile implements JournalDisk {
  readonly #folder: string;
  readonly #lock: { release(): void } | undefined;
  #handle: FileHandle | undefined;
  #size = 0;
  #broken: AgentError | undefined;
  #closed = false;

  /** @param lock the lock of the folder; released when the file is closed */
  constructor(folder: string, lock?: { release(): void }) {
    this.#folder = folder;
    this.#lock = lock;
  }

  get isDoubtful(): boolean {
    return this.#broken !== undefined && !this.#closed;
  }

  async read(): Promise<Buffer | undefined> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    // Left by a crash during a compaction; the old file is still complete.
    await rm(this.#path(NEW_FILE), { force: true });
    try {
      const content = await readFile(this.#path(FILE));
      await this.#open(content.length);
      return content;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw diskError(error);
    }
  }

  async truncate(bytes: number): Promise<void> {
    await this.#guarded(async (handle) => {
      await handle.truncate(bytes);
      await handle.datasync();
      this.#size = bytes;
    });
  }

  async append(line: Buffer): Promise<void> {
    if (this.#broken) throw this.#broken;
    const handle = this.#handle;
    if (!handle) throw new AgentError('internal', 'the job journal is not open');
    try {
      await handle.write(line, 0, line.length, this.#size).then(({ bytesWritten }) => {
        if (bytesWritten < line.length) throw new AgentError('internal', 'the disk of the job journal is full');
      });
    } catch (error) {
      await this.truncate(this.#size);
      throw diskError(error);
    }
    await this.#guarded((open) => open.datasync());
    this.#size += line.length;
  }

  async replace(content: Buffer): Promise<void> {
    if (this.#closed) throw new AgentError('internal', 'the job journal is closed');
    try {
      await writeDurably(this.#path(NEW_FILE), content);
    } catch (error) {
      await rm(this.#path(NEW_FILE), { force: true });
      throw diskError(error);
    }
    try {
      await rename(this.#path(NEW_FILE), this.#path(FILE));
      await syncFolder(this.#folder);
      await this.#handle?.close();
      this.#handle = undefined;
      await this.#open(content.length);
      this.#broken = undefined;
    } catch (error) {
      this.#broken = diskError(error);
      throw this.#broken;
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.#closed = true;
    this.#broken ??= new AgentError('internal', 'the job journal is closed');
    await handle?.close();
    this.#lock?.release();
  }

  async #open(size: number): Promise<void> {
    this.#handle = await open(this.#path(FILE), constants.O_RDWR);
    this.#size = size;
  }

  /** After a failure of `work` the content of the disk is unknown, so later operations fail. */
  async #guarded(work: (handle: FileHandle) => Promise<void>): Promise<void> {
    if (this.#broken) throw this.#broken;
    try {
      await work(this.#handle as FileHandle);
    } catch (error) {
      this.#broken = diskError(error);
      throw this.#broken;
    }
  }

  #path(name: string): string {
    return path.join(this.#folder, name);
  }
}

async function writeDurably(file: string, content: Buffer): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function diskError(error: unknown): AgentError {
  if (error instanceof AgentError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new AgentError('internal', `the job journal cannot be written: ${message}`, { cause: error });
}
