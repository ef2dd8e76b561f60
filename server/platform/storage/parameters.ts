import { AppError } from '../core/errors.ts';

/**
 * Refuses text that the engines would treat differently: PostgreSQL cannot hold NUL bytes, and half a surrogate pair
 * comes back as another character. Text from outside that must be kept goes through `storableText` (columns.ts) first.
 * @throws AppError `invalid`
 */
export function checkParameters(parameters: readonly unknown[]): void {
  for (const value of parameters) {
    if (typeof value !== 'string') continue;
    if (value.includes('\0')) throw new AppError('invalid', 'text must not contain NUL bytes');
    if (!value.isWellFormed()) throw new AppError('invalid', 'text must be well-formed Unicode');
  }
}
