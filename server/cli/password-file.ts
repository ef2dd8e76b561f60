import { readFile } from 'node:fs/promises';
import { AppError } from '../platform/core/errors.ts';

export const ONCE = 'This is shown only once.';

/** @throws AppError `unavailable` for a file that cannot be read */
export async function readFirstLine(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).split(/\r?\n/, 1)[0] ?? '';
  } catch (cause) {
    throw new AppError('unavailable', `cannot read ${file}`, { cause });
  }
}
