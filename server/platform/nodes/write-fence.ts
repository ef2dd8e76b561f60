import { AppError } from '../core/errors.ts';
import type { Beat } from './beat.ts';

/** Whoever asks again finds a control plane that counts, or this one when it has told the database that it lives. */
const RETRY = { retryAfterMs: 2000 };

/**
 * Keeps a control plane that may be taken for dead from writing: others may have settled what was its own. Statements that change data and
 * commits ask it, without a query. It opens with the next beat that is stored, or never again.
 */
export class WriteFence {
  #beat: Pick<Beat, 'mayWrite'> | undefined;

  /** From now on. Before the first beat nothing belongs to this control plane. */
  follow(beat: Pick<Beat, 'mayWrite'>): void {
    this.#beat = beat;
  }

  /** @throws AppError `unavailable` */
  readonly check = (): void => {
    if (this.#beat && !this.#beat.mayWrite) {
      throw new AppError('unavailable', 'this control plane does not know whether the others still count on it', RETRY);
    }
  };
}
