import { mkdir, rmdir } from 'node:fs/promises';
import path from 'node:path';

/**
 * Creates a folder with mode 0700, and its missing parents. An existing folder stays unchanged.
 * @returns a function that removes the created folders if they are empty
 * @throws Error of the file system
 */
export async function makeFolder(folder: string): Promise<() => Promise<void>> {
  const resolved = path.resolve(folder);
  const first = await mkdir(resolved, { recursive: true, mode: 0o700 });
  return async () => {
    if (first !== undefined) await removeUpTo(first, resolved).catch(() => undefined);
  };
}

async function removeUpTo(first: string, folder: string): Promise<void> {
  await rmdir(folder);
  if (folder !== first && folder.startsWith(first)) await removeUpTo(first, path.dirname(folder));
}
