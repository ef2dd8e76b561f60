import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder, SharedUse } from '../../../runtime/fair-shares.ts';
import { FairQueue } from '../../platform/core/fair-queue.ts';
import type { RouterChange } from './store.ts';
import type { FaultChange } from './types.ts';

/**
 * Shares of the queue for the database. One team may use half of it: enough for a change of all its 10,000 routers at once.
 * One router: each of its sixteen fault types opens and resolves four times.
 */
export const WAITING_CHANGES = { total: 40_000, perParty: 20_000, perMember: 128 };

/** Changes that a fault may keep beyond the shares: fewer could not say that it opened, was resolved, and is open again. */
const KEPT_OF_FAULT = 3;

/** A change, and whether it holds a share. */
interface Queued {
  change: FaultChange;
  hasShare: boolean;
}

/** A change that was taken from the queue. */
export interface TakenChange extends RouterChange {
  hasShare: boolean;
}

/** The queued changes of one fault of one router. `open` and `resolve` alternate. */
interface Waiting {
  readonly of: RouterChange;
  readonly changes: Queued[];
}

/**
 * Changes that are not stored yet. Teams take turns. Within the shares every change waits. Beyond them a fault that flaps keeps its first and
 * last changes, so no present fault is lost, and the size is bounded by the faults that known routers can have.
 */
export class WaitingChanges {
  readonly #shares = new FairShares(WAITING_CHANGES);
  readonly #queue = new FairQueue<Waiting>();
  readonly #byFault = new Map<string, Waiting>();

  get shares(): SharedUse {
    return this.#shares;
  }

  /** Faults with changes that wait. */
  get size(): number {
    return this.#queue.size;
  }

  add(added: RouterChange): void {
    const key = keyOf(added);
    const known = this.#byFault.get(key);
    if (known && isDescribed(known.changes, added.change)) return;
    const queued = { change: added.change, hasShare: this.#shares.take(holderOf(added)) };
    if (!known) {
      const waiting = { of: added, changes: [queued] };
      this.#byFault.set(key, waiting);
      this.#queue.add(holderOf(added), waiting);
      return;
    }
    known.changes.push(queued);
    if (!queued.hasShare && known.changes.length > KEPT_OF_FAULT) this.#merge(known);
  }

  /** Takes `count` changes, or a few more. They count against the shares until {@link done} is called with them. */
  take(count: number): TakenChange[] {
    const taken: TakenChange[] = [];
    while (taken.length < count) {
      const turn = this.#queue.next(() => true);
      if (!turn) break;
      const { of, changes } = turn.item;
      this.#byFault.delete(keyOf(of));
      for (const queued of changes) taken.push({ ...of, ...queued });
    }
    return taken;
  }

  done(changes: readonly TakenChange[]): void {
    for (const change of changes) if (change.hasShare) this.#shares.giveBack(holderOf(change));
  }

  /** Drops an `open` and the `resolve` that follows it, or the reverse, so that the remaining changes still alternate. */
  #merge({ of, changes }: Waiting): void {
    for (const { hasShare } of changes.splice(1, 2)) if (hasShare) this.#shares.giveBack(holderOf(of));
  }
}

/** Merges new details into a queued `open`, which needs no room, and leaves out what is said twice. @returns whether nothing is to be added */
function isDescribed(changes: Queued[], added: FaultChange): boolean {
  const last = changes.at(-1)!;
  if (added.kind === 'resolve') return last.change.kind === 'resolve';
  if (last.change.kind === 'resolve' || (added.kind === 'open' && added.isTold !== true)) return false;
  changes[changes.length - 1] = { ...last, change: { ...last.change, finding: added.finding } };
  return true;
}

function holderOf({ teamId, routerId }: RouterChange): Holder {
  return { party: teamId, member: routerId };
}

function keyOf({ routerId, change }: RouterChange): string {
  return `${routerId} ${change.type}`;
}
