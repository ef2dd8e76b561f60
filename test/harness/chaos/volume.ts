import { execFile } from 'node:child_process';
import { mkdir, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const FILL_TRIES = 200;

/** A folder on a small disk of its own, which can be filled to the last byte; an ordinary folder where mounting is not permitted. */
export class Volume {
  readonly folder: string;
  readonly canBeFilled: boolean;

  private constructor(folder: string, canBeFilled: boolean) {
    this.folder = folder;
    this.canBeFilled = canBeFilled;
  }

  static async create(folder: string, megabytes: number): Promise<Volume> {
    await mkdir(folder, { recursive: true });
    const isMounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]).then(
      () => true,
      () => false,
    );
    return new Volume(folder, isMounted);
  }

  /** Also while others write there. @throws when they make room as fast as it is taken */
  async fill(): Promise<void> {
    for (let tries = 0; tries < FILL_TRIES; tries += 1) {
      const { bavail, bsize } = await statfs(this.folder);
      if (bavail === 0) return;
      const taken = await stat(this.#ballast).then(
        ({ size }) => size,
        () => 0,
      );
      // Takes all or nothing: nothing when somebody has written since.
      await run('fallocate', ['-o', String(taken), '-l', String(bavail * bsize), this.#ballast]).catch(() => undefined);
    }
    throw new Error(`the disk ${this.folder} could not be filled`);
  }

  async empty(): Promise<void> {
    await rm(this.#ballast, { force: true });
  }

  /** After everybody who has files open in it is gone. */
  async remove(): Promise<void> {
    if (this.canBeFilled) await run('umount', [this.folder]);
    await rm(this.folder, { recursive: true, force: true });
  }

  get #ballast(): string {
    return path.join(this.folder, 'ballast');
  }
}
