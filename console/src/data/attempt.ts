import { hashKey } from '@tanstack/react-query';
import { randomKey } from '../../../client/browser.ts';

/** One write under way, or one whose answer was lost. */
export interface Attempt<T> {
  input: T;
  idempotencyKey: string;
}

/**
 * The attempt that sends an input.
 * @param open the attempt that has no answer yet: an equal input is sent with its key, so that pressing the button again does nothing twice
 */
export function attemptOf<T>(open: Attempt<T> | undefined, input: T): Attempt<T> {
  return open !== undefined && hashKey([open.input]) === hashKey([input]) ? open : { input, idempotencyKey: randomKey() };
}
