import type { FairShares, Holder } from '../../../runtime/fair-shares.ts';
import { FairQueue } from './fair-queue.ts';

/**
 * Chooses which due items run now, and takes a share for each: round robin over parties, starting with those that hold the
 * least, and in the given order for each member. Items that are not chosen stay due.
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
