import { AgentError } from '../../../agent/core/errors.ts';
import type { JournalDisk } from '../../../agent/jobs/journal/disk.ts';

/** A disk that survives its process: what was written and confirmed stays, and it can be full. */
export class MemoryDisk implements JournalDisk {
  content: Buffer | undefined;
  full = false;

  read(): Promise<Buffer | undefined> {
    return Promise.resolve(this.content);
  }

  truncate(bytes: number): Promise<void> {
    this.content = this.content?.subarray(0, bytes);
    return Promise.resolve();
  }

  append(line: Buffer): Promise<void> {
    if (this.full) return Promise.reject(new AgentError('internal', 'the disk of the job journal is full'));
    this.content = Buffer.concat([this.content ?? Buffer.alloc(0), line]);
    return Promise.resolve();
  }

  replace(content: Buffer): Promise<void> {
    if (this.full) return Promise.reject(new AgentError('internal', 'the disk of the job journal is full'));
    this.content = content;
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** A disk that fails to flush: the line may be on it or not. */
export class DoubtfulDisk extends MemoryDisk {
  fails = false;
  isDoubtful = false;
  readonly #disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    super();
    this.#disk = disk;
  }

  override read(): Promise<Buffer | undefined> {
    return this.#disk.read();
  }

  override async append(line: Buffer): Promise<void> {
    if (this.isDoubtful || this.fails) {
      this.isDoubtful = true;
      throw new AgentError('internal', 'the job journal cannot be written');
    }
    await this.#disk.append(line);
  }

  override async replace(content: Buffer): Promise<void> {
    if (this.fails) throw new AgentError('internal', 'the job journal cannot be written');
    await this.#disk.replace(content);
    this.isDoubtful = false;
  }
}
