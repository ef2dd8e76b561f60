import { AppError } from '../core/errors.ts';

/**
 * Rejects text that the engines would treat differently: PostgreSQL cannot store NUL bytes, and a lone surrogate
 * comes back as another character. Pass external text that must be stored through `storableText` (columns.ts) first.
 * @throws AppError `invalid`
 */
export function checkParameters(parameters: readonly unknown[]): void {
  for (const value of parameters) {
    if (typeof value !== 'string') continue;
    if (value.includes('\0')) throw new AppError('invalid', 'text must not contain NUL bytes');
    if (!value.isWellFormed()) throw new AppError('invalid', 'text must be well-formed Unicode');
  }
}
