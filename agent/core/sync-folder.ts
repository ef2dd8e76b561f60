import { open } from 'node:fs/promises';

/** Flushes a folder. Without it a power failure may lose the name of a new file whose content is on disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
