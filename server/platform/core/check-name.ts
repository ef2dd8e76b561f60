import { invalidField } from './errors.ts';
import { isUuid } from './ids.ts';

/** A name fits in one line of a list. */
const LONGEST_NAME = 100;

/** @throws AppError `invalid` for a name that is empty, too long or looks like an id */
export function checkName(field: string, name: string): string {
  const trimmed = name.trim();
  if (trimmed.length === 0 || trimmed.length > LONGEST_NAME) throw invalidField(field, `must have 1 to ${LONGEST_NAME} characters`);
  // Teams and sites are found by id or name: a name that looks like an id could select another record.
  if (isUuid(trimmed.toLowerCase())) throw invalidField(field, 'must not look like an id');
  return trimmed;
}
