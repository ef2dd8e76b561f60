import type { Holder } from '../../../runtime/fair-shares.ts';

/** The queued items of one party. Urgent items go before the rest of the same party, never before other parties. */
interface Line<T> {
  urgent: Map<string | undefined, T[]>;
  others: Map<string | undefined, T[]>;
}

export interface Turn<T> {
  holder: Holder;
  item: T;
}

/**
 * A fair queue: round robin over parties, within a party over its members, and first in, first out for each member. A party
 * with many items delays only itself. `mayGo` sets the limits, usually with `FairShares`.
 */
export class FairQueue<T> {
  /** In the order of their next turns. */
  readonly #lines = new Map<string, Line<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add({ party, member }: Holder, item: T, { urgent }: { urgent: boolean } = { urgent: false }): void {
    const line = this.#lines.get(party) ?? { urgent: new Map(), others: new Map() };
    this.#lines.set(party, line);
    const members = urgent ? line.urgent : line.others;
    const items = members.get(member);
    if (items) items.push(item);
    else members.set(member, [item]);
    this.#size += 1;
  }

  /** Removes the next item whose holder may go now; undefined when there is none. */
  next(mayGo: (holder: Holder) => boolean): Turn<T> | undefined {
    for (const [party, line] of this.#lines) {
      const turn = takeFrom(party, line.urgent, mayGo) ?? takeFrom(party, line.others, mayGo);
      if (!turn) continue;
      this.#size -= 1;
      // To the end of the queue: all other parties come first.
      this.#lines.delete(party);
      if (line.urgent.size + line.others.size > 0) this.#lines.set(party, line);
      return turn;
    }
    return undefined;
  }

  /** Drops all queued items. */
  clear(): void {
    this.#lines.clear();
    this.#size = 0;
  }
}

function takeFrom<T>(party: string, members: Map<string | undefined, T[]>, mayGo: (holder: Holder) => boolean): Turn<T> | undefined {
  for (const [member, items] of members) {
    const holder = { party, member };
    if (!mayGo(holder)) continue;
    const item = items.shift()!;
    members.delete(member);
    if (items.length > 0) members.set(member, items);
    return { holder, item };
  }
  return undefined;
}
