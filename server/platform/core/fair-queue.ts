import type { Holder } from '../../../runtime/fair-shares.ts';

/** What waits of one party. What is urgent goes before the rest of the same party, never before other parties. */
interface Line<T> {
  urgent: Map<string | undefined, T[]>;
  others: Map<string | undefined, T[]>;
}

export interface Turn<T> {
  holder: Holder;
  item: T;
}

/**
 * What waits for its turn: parties one after another, within a party its members one after another, and in the order of
 * coming for each member. Whoever waits with much delays only himself. It sets no limits; `mayGo` does, usually `FairShares`.
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

  /** Takes out the next item whose holder may go now; undefined when there is none. */
  next(mayGo: (holder: Holder) => boolean): Turn<T> | undefined {
    for (const [party, line] of this.#lines) {
      const turn = takeFrom(party, line.urgent, mayGo) ?? takeFrom(party, line.others, mayGo);
      if (!turn) continue;
      this.#size -= 1;
      // To the end of the row: everybody else's turn comes first.
      this.#lines.delete(party);
      if (line.urgent.size + line.others.size > 0) this.#lines.set(party, line);
      return turn;
    }
    return undefined;
  }

  /** Forgets everything that waits. */
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
