import { ConnectionError, ProblemError } from '../../../client/browser.ts';

/**
 * Whether the answer of a write was lost, so that nobody here knows whether it was done: the connection broke, a proxy gave up (502, 504), or
 * the attempt whose answer was lost is still being carried out (`in_progress`).
 */
export function isLost(error: unknown): boolean {
  if (error instanceof ProblemError) return error.status === 502 || error.status === 504 || error.code === 'in_progress';
  return !(error instanceof ConnectionError) || error.maybeDone;
}
