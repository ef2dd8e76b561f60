interface Lent {
  open: number;
  /** Those of its connections, and those that it keeps for the next ones. */
  places: number;
}

/** What other control planes have of the places of a forward, by their ids. */
export class LentPlaces {
  readonly #lent = new Map<string, Lent>();
  #open = 0;
  #places = 0;

  /** Connections that the others carry. */
  get open(): number {
    return this.#open;
  }

  /** Connections that the others carry or may carry without asking. */
  get places(): number {
    return this.#places;
  }

  /** Ids of those that have some. */
  get holders(): string[] {
    return [...this.#lent.keys()];
  }

  placesOf(nodeId: string): number {
    return this.#lent.get(nodeId)?.places ?? 0;
  }

  /** @param kept how many it may carry without asking, where that is more than it carries */
  set(nodeId: string, open: number, kept = 0): void {
    const before = this.#lent.get(nodeId) ?? { open: 0, places: 0 };
    const places = Math.max(open, kept);
    this.#open += open - before.open;
    this.#places += places - before.places;
    if (places === 0) this.#lent.delete(nodeId);
    else this.#lent.set(nodeId, { open, places });
  }
}
