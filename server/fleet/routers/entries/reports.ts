import type { Inventory } from '../../../../protocol/index.ts';
import { FewMap, FewSet } from '../../../platform/core/few.ts';

/** An entry that reports the hardware id of another entry's router at the same agent. */
export interface Duplicate {
  name: string;
  routerId: string;
  inventory: Inventory;
}

interface Reported {
  host: string | null;
  duplicate: Duplicate | null;
  /** Why its router was rejected; null when it was accepted. */
  refusal: string | null;
}

/**
 * The reports of one agent's configuration entries on its present tunnel. The limits of inventories and of `hello` bound the
 * number of names.
 */
export class EntryReports {
  readonly #configured: FewSet<string>;
  readonly #reported = new FewMap<string, Reported>();

  /** @param configured names from `hello`; the entries of an agent that sends none are known only from its reports */
  constructor(configured: readonly string[]) {
    this.#configured = new FewSet(configured);
  }

  /** The agent has an entry with this name. */
  has(name: string): boolean {
    return this.#configured.has(name) || this.#reported.has(name);
  }

  /** @param routerId of the router that another entry has, when this one reports the same hardware id */
  report(inventory: Inventory, routerId: string | null): void {
    const { router: name, host = null } = inventory;
    this.#reported.set(name, { host, duplicate: routerId === null ? null : { name, routerId, inventory }, refusal: null });
  }

  /** The entry's inventory was rejected. @param refusal the reason, for people */
  refuse(inventory: Inventory, refusal: string): void {
    const { router: name, host = null } = inventory;
    this.#reported.set(name, { host, duplicate: null, refusal });
  }

  /** Why the router of this entry was rejected; null when it was accepted or not reported yet. */
  refusalAt(name: string): string | null {
    return this.#reported.get(name)?.refusal ?? null;
  }

  /** Names of the entries whose router was rejected. */
  get refused(): string[] {
    return [...this.#reported].filter(([, { refusal }]) => refusal !== null).map(([name]) => name);
  }

  /** The entry has got its router, so it is no duplicate any longer. */
  clearDuplicate(name: string): void {
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

  /** True when every entry has reported its router or already has one (`held`), so that all duplicates are known. */
  isComplete(held: FewMap<string, string>): boolean {
    return [...this.#configured].every((name) => this.#reported.has(name) || held.has(name));
  }
}
