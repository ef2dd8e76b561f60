import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder, SharedUse } from '../../../runtime/fair-shares.ts';
import { FairQueue } from '../../platform/core/fair-queue.ts';
import type { RouterChange } from './store.ts';
import type { FaultChange } from './types.ts';

/**
 * Changes that wait for the database. A team alone may have half of all: everything of its 10,000 routers at once. The most of
 * one router: each of its sixteen types of fault opens and ends four times.
 */
export const WAITING_CHANGES = { total: 40_000, perParty: 20_000, perMember: 128 };

/** What waits of one fault of one router. `open` and `resolve` come in turn. */
interface Waiting {
  readonly of: RouterChange;
  readonly changes: FaultChange[];
}

/** What was noticed and is not stored yet. Teams take turns, and a router that flaps waits with a few changes only. */
export class WaitingChanges {
  readonly #shares = new FairShares(WAITING_CHANGES);
  readonly #queue = new FairQueue<Waiting>();
  readonly #byFault = new Map<string, Waiting>();

  get shares(): SharedUse {
    return this.#shares;
  }

  /** @returns false when the team or its router has as many as it may: the change is lost */
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

  /** Takes out `count` changes, or a few more. They count until {@link done} is called with them. */
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
   * Makes room by leaving out a beginning and the end that follows it, or an end and the beginning: what comes after still fits
   * what comes before. @returns false when too little waits for that
   */
  #merge({ of, changes }: Waiting, added: FaultChange): boolean {
    if (changes.length < 3) return false;
    changes.splice(1, 2);
    changes.push(added);
    this.#shares.giveBack(holderOf(of));
    return true;
  }
}

/** Other words of a fault that waits need no room. @returns whether it was so */
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
