interface Entry<T> {
  readonly member: T;
  index: number;
}

/**
 * A set for thousands of short-lived members. A `Set` replaces its table every few dozen changes, and each old table refers to
 * the next. Once one of them is in V8's old generation, all later tables and their members stay alive until the next full
 * collection: a third of all connections were kept for minutes that way.
 */
export class MemberList<T> {
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** @returns a function that removes the member; a second call has no effect */
  add(member: T): () => void {
    const entry = { member, index: this.#entries.length };
    this.#entries.push(entry);
    return () => this.#remove(entry);
  }

  /** A snapshot in no particular order: members may be removed during the iteration. */
  members(): T[] {
    return this.#entries.map(({ member }) => member);
  }

  /** Moves the last member into the gap. */
  #remove(entry: Entry<T>): void {
    const { index } = entry;
    if (this.#entries[index] !== entry) return;
    const last = this.#entries.pop();
    if (last === undefined || last === entry) return;
    last.index = index;
    this.#entries[index] = last;
  }
}
