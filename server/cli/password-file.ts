import { readFile } from 'node:fs/promises';
import { guessProblemOf } from '../access/teams/unfit-password.ts';
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

/** What to say of a password that was brought: programs bring theirs, so one that somebody would guess is not refused. */
export function warningsOf(password: string | undefined, email: string): string[] {
  const problem = password === undefined ? undefined : guessProblemOf(password, email);
  return problem === undefined ? [] : [`Warning: somebody would guess this password. It ${problem}.`];
}
