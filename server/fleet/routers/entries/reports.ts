import type { Inventory } from '../../../../protocol/index.ts';

/** An entry that reports the hardware id of a router that another entry of the same agent has. */
export interface Duplicate {
  name: string;
  routerId: string;
  inventory: Inventory;
}

interface Reported {
  host: string | null;
  duplicate: Duplicate | null;
  /** Why its router was not taken in; null when it was. */
  refusal: string | null;
}

/**
 * What the entries of one agent's configuration have reported on its present tunnel. Holds at most as many names as the agent
 * may name routers: the limits of inventories and of `hello` see to that.
 */
export class EntryReports {
  readonly #configured: ReadonlySet<string>;
  readonly #reported = new Map<string, Reported>();

  /** @param configured names of `hello`; what an agent that names none has is known only by what it reports */
  constructor(configured: readonly string[]) {
    this.#configured = new Set(configured);
  }

  /** The agent has an entry of this name. */
  has(name: string): boolean {
    return this.#configured.has(name) || this.#reported.has(name);
  }

  /** @param routerId of the router that another entry has, when this one reports the same hardware id */
  report(inventory: Inventory, routerId: string | null): void {
    const { router: name, host = null } = inventory;
    this.#reported.set(name, { host, duplicate: routerId === null ? null : { name, routerId, inventory }, refusal: null });
  }

  /** What the entry reports cannot be a router. @param refusal the reason, for people */
  refuse(inventory: Inventory, refusal: string): void {
    const { router: name, host = null } = inventory;
    this.#reported.set(name, { host, duplicate: null, refusal });
  }

  /** Why the router of this entry was not taken in; null when it was, or has not been reported. */
  refusalAt(name: string): string | null {
    return this.#reported.get(name)?.refusal ?? null;
  }

  /** Names of the entries whose router was not taken in. */
  get refused(): string[] {
    return [...this.#reported].filter(([, { refusal }]) => refusal !== null).map(([name]) => name);
  }

  /** The entry has its router now. */
  settle(name: string): void {
    const known = this.#reported.get(name);
    if (known) known.duplicate = null;
  }

  hostOf(name: string): string | null {
    return this.#reported.get(name)?.host ?? null;
  }

  duplicateAt(name: string): Duplicate | null {
    return this.#reported.get(name)?.duplicate ?? null;
  }

  /** Oldest first. */
  get duplicates(): Duplicate[] {
    return [...this.#reported.values()].flatMap(({ duplicate }) => duplicate ?? []);
  }

  /** Every entry has reported who its router is, or has one (`held`) and so is no duplicate unless it says so. */
  isComplete(held: ReadonlyMap<string, string>): boolean {
    return [...this.#configured].every((name) => this.#reported.has(name) || held.has(name));
  }
}
