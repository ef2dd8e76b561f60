interface Entry<T> {
  readonly member: T;
  index: number;
}

/**
 * Members that come and go by the thousand. A `Set` makes itself a new table every few dozen of them, and each old table
 * refers to the next: as soon as one of them has grown old, V8 takes all later ones, and the members in them, for alive
 * until its next full collection. A third of all connections were kept for minutes that way.
 */
export class MemberList<T> {
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** @returns takes the member out again; a second call does nothing */
  add(member: T): () => void {
    const entry = { member, index: this.#entries.length };
    this.#entries.push(entry);
    return () => this.#remove(entry);
  }

  /** Those of this moment, in no order: members may leave while they are gone through. */
  members(): T[] {
    return this.#entries.map(({ member }) => member);
  }

  /** The last one takes the place that becomes free. */
  #remove(entry: Entry<T>): void {
    const { index } = entry;
    if (this.#entries[index] !== entry) return;
    const last = this.#entries.pop();
    if (last === undefined || last === entry) return;
    last.index = index;
    this.#entries[index] = last;
  }
}
