import type { FairShares, Holder } from '../../../runtime/fair-shares.ts';
import { FairQueue } from './fair-queue.ts';

/**
 * Chooses among what is due what goes now, and takes a share for each: parties in turn, those first that hold least;
 * in the order given for each member. What is not chosen stays due.
 */
export function chooseFairly<T>(shares: FairShares, candidates: readonly T[], holderOf: (candidate: T) => Holder): T[] {
  const queue = new FairQueue<T>();
  const held = (candidate: T): number => shares.heldBy(holderOf(candidate).party);
  for (const candidate of candidates.toSorted((one, other) => held(one) - held(other))) queue.add(holderOf(candidate), candidate);
  const chosen: T[] = [];
  for (;;) {
    const turn = queue.next((holder) => shares.limitFor(holder) === undefined);
    if (!turn) return chosen;
    shares.take(turn.holder);
    chosen.push(turn.item);
  }
}
