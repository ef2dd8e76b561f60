import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder, SharedUse } from '../../../runtime/fair-shares.ts';
import { FairQueue } from '../../platform/core/fair-queue.ts';
import type { RouterChange } from './store.ts';
import type { FaultChange } from './types.ts';

/**
 * Limits of the queue for the database. One team may use half of it: enough for a change of all its 10,000 routers at once.
 * One router: each of its sixteen fault types opens and resolves four times.
 */
export const WAITING_CHANGES = { total: 40_000, perParty: 20_000, perMember: 128 };

/** The queued changes of one fault of one router. `open` and `resolve` alternate. */
interface Waiting {
  readonly of: RouterChange;
  readonly changes: FaultChange[];
}

/** Changes that are not stored yet. Teams take turns, and a router that flaps keeps only a few changes queued. */
export class WaitingChanges {
  readonly #shares = new FairShares(WAITING_CHANGES);
  readonly #queue = new FairQueue<Waiting>();
  readonly #byFault = new Map<string, Waiting>();

  get shares(): SharedUse {
    return this.#shares;
  }

  /** @returns false when the team or its router has reached its limit: the change is dropped */
  add(added: RouterChange): boolean {
    const key = keyOf(added);
    const known = this.#byFault.get(key);
    if (known && isDescribed(known.changes, added.change)) return true;
    if (!this.#shares.take(holderOf(added))) return known !== undefined && this.#merge(known, added.change);
    if (known) {
      known.changes.push(added.change);
      return true;
    }
    const waiting = { of: added, changes: [added.change] };
    this.#byFault.set(key, waiting);
    this.#queue.add(holderOf(added), waiting);
    return true;
  }

  /** Takes `count` changes, or a few more. They count against the limits until {@link done} is called with them. */
  take(count: number): RouterChange[] {
    const taken: RouterChange[] = [];
    while (taken.length < count) {
      const turn = this.#queue.next(() => true);
      if (!turn) break;
      const { of, changes } = turn.item;
      this.#byFault.delete(keyOf(of));
      for (const change of changes) taken.push({ ...of, change });
    }
    return taken;
  }

  done(changes: readonly RouterChange[]): void {
    for (const change of changes) this.#shares.giveBack(holderOf(change));
  }

  /**
   * Makes room by dropping an `open` and the `resolve` that follows it, or the reverse, so that the remaining changes still
   * alternate. @returns false when too few changes are queued
   */
  #merge({ of, changes }: Waiting, added: FaultChange): boolean {
    if (changes.length < 3) return false;
    changes.splice(1, 2);
    changes.push(added);
    this.#shares.giveBack(holderOf(of));
    return true;
  }
}

/** Merges new details into a queued `open`, which needs no room. @returns whether it could */
function isDescribed(changes: FaultChange[], added: FaultChange): boolean {
  const last = changes.at(-1)!;
  if (added.kind !== 'describe' || last.kind === 'resolve') return false;
  changes[changes.length - 1] = { ...last, finding: added.finding };
  return true;
}

function holderOf({ teamId, routerId }: RouterChange): Holder {
  return { party: teamId, member: routerId };
}

function keyOf({ routerId, change }: RouterChange): string {
  return `${routerId} ${change.type}`;
}
