import { z } from 'zod';

/** Text that every database keeps unchanged. */
function isStorable(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

/** Names fit in one line of a list. */
const LONGEST_NAME = 100;

/** Without spaces around it. */
export const nameField = z.string().trim().min(1).max(LONGEST_NAME).refine(isStorable, 'must not contain NUL or half characters');

/** Text that is kept as it is. */
export const textField = (max: number) => z.string().max(max).refine(isStorable, 'must not contain NUL or half characters');

/** In lower case, as ids are stored. */
export const uuidField = z.uuid().toLowerCase();

/** The id of a record in a path, in either case: a value that cannot be one is not found rather than invalid. */
export const pathId = z.string().max(100).toLowerCase();

/** A moment in a request; any offset is understood. */
export const momentField = z.iso.datetime({ offset: true }).meta({ examples: ['2031-05-01T00:00:00Z'] });
