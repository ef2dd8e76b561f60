import { z } from 'zod';

/** Text that every database stores unchanged. */
function isStorable(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

/** Names fit in one line of a list. */
const LONGEST_NAME = 100;

/** A name without leading and trailing spaces. */
export const nameField = z.string().trim().min(1).max(LONGEST_NAME).refine(isStorable, 'must not contain NUL or half characters');

/** Text that is stored unchanged. */
export const textField = (max: number) => z.string().max(max).refine(isStorable, 'must not contain NUL or half characters');

/** An id in lower case, as stored. */
export const uuidField = z.uuid().toLowerCase();

/** The id of a record in a path, in either case. A value that is not an id gives 404 rather than 422. */
export const pathId = z.string().max(100).toLowerCase();

/** A time in a request, with any offset. */
export const momentField = z.iso.datetime({ offset: true }).meta({ examples: ['2031-05-01T00:00:00Z'] });
