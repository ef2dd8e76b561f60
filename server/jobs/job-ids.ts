import { newId } from '../core/ids.ts';

/**
 * Ids that rise with every call of one process, also within a millisecond (RFC 9562 section 6.2, method 2): jobs of
 * one router run in order of creation, and several can be created in the same millisecond.
 */
export class JobIds {
  #last = '';

  next(now: number): string {
    const fresh = newId(now);
    this.#last = fresh > this.#last ? fresh : successor(this.#last);
    return this.#last;
  }
}

/** The low 48 bits count on; that they overflow within one millisecond is ruled out by their number. */
function successor(id: string): string {
  const low = BigInt(`0x${id.slice(24)}`) + 1n;
  const next = low.toString(16).padStart(12, '0');
  return next.length > 12 ? id : id.slice(0, 24) + next;
}
