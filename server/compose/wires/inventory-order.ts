/** What is said of a router beside its inventory. */
type Said = 'heartbeat' | 'health';

interface Coming {
  /** Inventories that have arrived and are not stored yet. */
  count: number;
  /** What was said after them; of each kind only the latest matters. */
  after: Map<Said, () => void>;
}

/**
 * Keeps what an agent says of a router behind the inventory that it sent before. An inventory waits for the database and a
 * heartbeat does not: of another device under the same name, the first heartbeat would count for the old one, which would
 * seem to have been rebooted.
 */
export class InventoryOrder {
  /** By agent and by the router's name there. */
  readonly #coming = new Map<string, Map<string, Coming>>();

  /** An inventory has arrived. Each must be followed by {@link stored}. */
  arrived(agentId: string, name: string): void {
    const ofAgent = this.#coming.get(agentId) ?? new Map<string, Coming>();
    this.#coming.set(agentId, ofAgent);
    const coming = ofAgent.get(name) ?? { count: 0, after: new Map() };
    coming.count += 1;
    ofAgent.set(name, coming);
  }

  /** Runs now, or once every inventory of this router that has arrived is stored. */
  run(agentId: string, name: string, kind: Said, work: () => void): void {
    const coming = this.#coming.get(agentId)?.get(name);
    if (coming) coming.after.set(kind, work);
    else work();
  }

  isWaiting(agentId: string, name: string): boolean {
    return this.#coming.get(agentId)?.has(name) === true;
  }

  /** One inventory is stored, or could not be. */
  stored(agentId: string, name: string): void {
    const ofAgent = this.#coming.get(agentId);
    const coming = ofAgent?.get(name);
    if (!ofAgent || !coming) return;
    coming.count -= 1;
    if (coming.count > 0) return;
    ofAgent.delete(name);
    if (ofAgent.size === 0) this.#coming.delete(agentId);
    for (const work of coming.after.values()) work();
  }

  /** The tunnel is gone; nothing of it is told any more. */
  forget(agentId: string): void {
    this.#coming.delete(agentId);
  }
}
