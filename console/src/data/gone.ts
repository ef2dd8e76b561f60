import type { UseQueryResult } from '@tanstack/react-query';
import { ProblemError } from '../../../client/browser.ts';

/** Whether a record is not there, or not there any more. */
export function isGone(error: Error | null): boolean {
  return error instanceof ProblemError && error.status === 404;
}

/** A reading that failed leaves what was read before in place. Of a record that somebody has removed meanwhile, nothing is left. */
export function withoutGone<T>(query: UseQueryResult<T>): UseQueryResult<T> {
  return isGone(query.error) ? ({ ...query, data: undefined } as UseQueryResult<T>) : query;
}
