/** Reports about a router other than its inventory. */
type Report = 'heartbeat' | 'health';

interface Pending {
  /** Number of inventories that have arrived and are not stored yet. */
  count: number;
  /** Reports after them; only the latest of each kind matters. */
  after: Map<Report, () => void>;
}

/**
 * Processes reports about a router after the inventory that the agent sent before. An inventory waits for the database and a
 * heartbeat does not: the first heartbeat of a new device under the same name would count for the old one, which would
 * seem to have rebooted.
 */
export class InventoryOrder {
  /** By agent, then by router name. */
  readonly #pending = new Map<string, Map<string, Pending>>();

  /** An inventory has arrived. Each must be followed by {@link stored}. */
  arrived(agentId: string, name: string): void {
    const ofAgent = this.#pending.get(agentId) ?? new Map<string, Pending>();
    this.#pending.set(agentId, ofAgent);
    const pending = ofAgent.get(name) ?? { count: 0, after: new Map() };
    pending.count += 1;
    ofAgent.set(name, pending);
  }

  /** Runs now, or once every inventory of this router that has arrived is stored. */
  run(agentId: string, name: string, kind: Report, work: () => void): void {
    const pending = this.#pending.get(agentId)?.get(name);
    if (pending) pending.after.set(kind, work);
    else work();
  }

  isWaiting(agentId: string, name: string): boolean {
    return this.#pending.get(agentId)?.has(name) === true;
  }

  /** Call when one inventory is stored or has failed. */
  stored(agentId: string, name: string): void {
    const ofAgent = this.#pending.get(agentId);
    const pending = ofAgent?.get(name);
    if (!ofAgent || !pending) return;
    pending.count -= 1;
    if (pending.count > 0) return;
    ofAgent.delete(name);
    if (ofAgent.size === 0) this.#pending.delete(agentId);
    for (const work of pending.after.values()) work();
  }

  /** Drops all pending reports of an agent whose tunnel has closed. */
  forget(agentId: string): void {
    this.#pending.delete(agentId);
  }
}
