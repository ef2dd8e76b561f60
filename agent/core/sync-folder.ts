import { open } from 'node:fs/promises';

/** Without it the name of a new file may be lost with the power although its content is on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
