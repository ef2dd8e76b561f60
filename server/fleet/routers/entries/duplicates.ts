import type { Inventory } from '../../../../protocol/index.ts';
import type { AgentConnection } from '../../../platform/core/agent-gateway.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import { EntryBook } from './book.ts';

/** One entry as people find it: by its name in the agent's configuration and the address there. */
export interface EntryAddress {
  name: string;
  /** Null: the agent has not said. */
  host: string | null;
}

/** Which entries of its agent report a router's hardware id beside the one that has it; none when that is over. */
export interface DuplicateChange {
  routerId: string;
  hardwareId: string;
  holder: EntryAddress;
  others: EntryAddress[];
}

interface AgentBook {
  book: EntryBook;
  /** Names and the routers they have, kept up by the owner of this map. */
  held: ReadonlyMap<string, string>;
  /** What was said last of each router, so that only news is told. */
  told: Map<string, string>;
  /** What may be left open of an earlier tunnel has been looked at. */
  isCleared: boolean;
}

/** Tells apart the entries of an agent that report the same hardware id: the first one keeps the router. */
export class DuplicateEntries {
  readonly changes = new Listeners<DuplicateChange>();
  readonly #agents = new Map<string, AgentBook>();

  /** The agent's new tunnel is ready. */
  begin({ agentId, routers = [] }: AgentConnection, held: ReadonlyMap<string, string>): void {
    this.#agents.set(agentId, { book: new EntryBook(routers), held, told: new Map(), isCleared: false });
    this.#tell(agentId);
  }

  end(agentId: string): void {
    this.#agents.delete(agentId);
  }

  book(agentId: string): EntryBook | undefined {
    return this.#agents.get(agentId)?.book;
  }

  /** An inventory was taken in. @param routerId of the router that another entry has, when this one reports the same hardware id */
  report(agentId: string, inventory: Inventory, routerId: string | null): void {
    this.#agents.get(agentId)?.book.report(inventory, routerId);
    this.#tell(agentId);
  }

  /** An inventory that cannot be of a router. @param refusal the reason, for people */
  refuse(agentId: string, inventory: Inventory, refusal: string): void {
    this.#agents.get(agentId)?.book.refuse(inventory, refusal);
    this.#tell(agentId);
  }

  /** The router has gone to another agent, or is no more. */
  forget(agentId: string, routerId: string): void {
    this.#agents.get(agentId)?.told.delete(routerId);
    this.changes.publish({ routerId, hardwareId: '', holder: { name: '', host: null }, others: [] });
  }

  /** What an entry reported that had to wait for a router which no entry has now. Each is given once. */
  takeFreed(agentId: string): Inventory | undefined {
    const agent = this.#agents.get(agentId);
    if (!agent) return undefined;
    const taken = new Set(agent.held.values());
    const freed = agent.book.duplicates.find(({ routerId }) => !taken.has(routerId));
    if (freed) agent.book.settle(freed.name);
    return freed?.inventory;
  }

  #tell(agentId: string): void {
    const agent = this.#agents.get(agentId);
    if (!agent) return;
    const { book, held, told } = agent;
    const now = findDuplicates(book, held);
    for (const change of now) {
      const words = JSON.stringify(change);
      if (told.get(change.routerId) === words) continue;
      told.set(change.routerId, words);
      this.changes.publish(change);
    }
    const over = new Set(told.keys());
    if (!agent.isCleared && book.isComplete(held)) {
      agent.isCleared = true;
      for (const routerId of held.values()) over.add(routerId);
    }
    for (const { routerId } of now) over.delete(routerId);
    for (const routerId of over) this.forget(agentId, routerId);
  }
}

function findDuplicates(book: EntryBook, held: ReadonlyMap<string, string>): DuplicateChange[] {
  const found = new Map<string, DuplicateChange>();
  if (book.duplicates.length === 0) return [];
  const holders = new Map([...held].map(([name, routerId]) => [routerId, name]));
  for (const { name, routerId, inventory } of book.duplicates) {
    const holder = holders.get(routerId);
    if (holder === undefined) continue;
    const change = found.get(routerId) ?? {
      routerId,
      hardwareId: inventory.facts.hardware_id,
      holder: { name: holder, host: book.hostOf(holder) },
      others: [],
    };
    change.others.push({ name, host: inventory.host ?? null });
    found.set(routerId, change);
  }
  return [...found.values()];
}
