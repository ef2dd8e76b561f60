import { execFile } from 'node:child_process';
import { mkdir, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

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

  async fill(): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder);
    if (bavail > 0) await run('fallocate', ['-l', String(bavail * bsize), this.#ballast]).catch(() => undefined);
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
