import { z } from 'zod';

/** Text that every database stores unchanged. */
function isStorable(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

/** Names fit in one line of a list. */
const LONGEST_NAME = 100;

/** What turns the text around it, or is acted upon where it is printed: a name could look like another one. */
const DECEPTIVE = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** A name that can be seen, without leading and trailing spaces. */
export const nameField = z
  .string()
  .trim()
  .min(1)
  .max(LONGEST_NAME)
  .refine(isStorable, 'must not contain NUL or half characters')
  .refine((name) => !DECEPTIVE.test(name), 'must not contain control characters or marks that change the direction')
  .refine((name) => name === '' || VISIBLE.test(name), 'must contain something that can be seen');

/** Text that is stored unchanged. */
export const textField = (max: number) => z.string().max(max).refine(isStorable, 'must not contain NUL or half characters');

/** An id in lower case, as stored. */
export const uuidField = z.uuid().toLowerCase();

/** The id of a record in a path, in either case. A value that is not an id gives 404 rather than 422. */
export const pathId = z.string().max(100).toLowerCase();

/** A time in a request, with any offset. */
export const momentField = z.iso.datetime({ offset: true }).meta({ examples: ['2031-05-01T00:00:00Z'] });
