import type { Inventory } from '../../../../protocol/index.ts';
import type { AgentConnection } from '../../../platform/core/agent-gateway.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import { EntryReports } from './reports.ts';
import { FewMap } from '../../../platform/core/few.ts';

/** Name and address of an entry in the agent's configuration. */
export interface EntryAddress {
  name: string;
  /** Null: not reported by the agent. */
  host: string | null;
}

/** The entries that report a router's hardware id beside the entry that has it; empty when no duplicate is left. */
export interface DuplicateChange {
  routerId: string;
  hardwareId: string;
  holder: EntryAddress;
  others: EntryAddress[];
}

interface AgentEntries {
  reports: EntryReports;
  /** Names and their routers; the owner of this map updates it. */
  held: FewMap<string, string>;
  /** The last change published for each router, so that only differences are published. */
  published: FewMap<string, string>;
  /** Duplicates of an earlier tunnel that no longer exist have been cleared. */
  isCleared: boolean;
}

/** Finds entries of an agent that report the same hardware id: the first one keeps the router. */
export class DuplicateEntries {
  readonly changes = new Listeners<DuplicateChange>();
  readonly #agents = new Map<string, AgentEntries>();

  /** The agent's new tunnel is ready. */
  begin({ agentId, routers = [] }: AgentConnection, held: FewMap<string, string>): void {
    this.#agents.set(agentId, { reports: new EntryReports(routers), held, published: new FewMap(), isCleared: false });
    this.#publish(agentId);
  }

  end(agentId: string): void {
    this.#agents.delete(agentId);
  }

  reportsOf(agentId: string): EntryReports | undefined {
    return this.#agents.get(agentId)?.reports;
  }

  /** An inventory was accepted. @param routerId of the router that another entry has, when this one reports the same hardware id */
  report(agentId: string, inventory: Inventory, routerId: string | null): void {
    this.#agents.get(agentId)?.reports.report(inventory, routerId);
    this.#publish(agentId);
  }

  /** An inventory was rejected. @param refusal the reason, for people */
  refuse(agentId: string, inventory: Inventory, refusal: string): void {
    this.#agents.get(agentId)?.reports.refuse(inventory, refusal);
    this.#publish(agentId);
  }

  /** The router has moved to another agent or was removed. */
  forget(agentId: string, routerId: string): void {
    this.#agents.get(agentId)?.published.delete(routerId);
    this.changes.publish({ routerId, hardwareId: '', holder: { name: '', host: null }, others: [] });
  }

  /** The inventory of a duplicate entry once no other entry has the router. Each is returned once. */
  takeFreed(agentId: string): Inventory | undefined {
    const agent = this.#agents.get(agentId);
    if (!agent) return undefined;
    const taken = new Set(agent.held.values());
    const freed = agent.reports.duplicates.find(({ routerId }) => !taken.has(routerId));
    if (freed) agent.reports.clearDuplicate(freed.name);
    return freed?.inventory;
  }

  #publish(agentId: string): void {
    const agent = this.#agents.get(agentId);
    if (!agent) return;
    const { reports, held, published } = agent;
    const now = findDuplicates(reports, held);
    for (const change of now) {
      const text = JSON.stringify(change);
      if (published.get(change.routerId) === text) continue;
      published.set(change.routerId, text);
      this.changes.publish(change);
    }
    const over = new Set(published.keys());
    if (!agent.isCleared && reports.isComplete(held)) {
      agent.isCleared = true;
      for (const routerId of held.values()) over.add(routerId);
    }
    for (const { routerId } of now) over.delete(routerId);
    for (const routerId of over) this.forget(agentId, routerId);
  }
}

function findDuplicates(reports: EntryReports, held: FewMap<string, string>): DuplicateChange[] {
  const found = new Map<string, DuplicateChange>();
  if (reports.duplicates.length === 0) return [];
  const holders = new Map([...held].map(([name, routerId]) => [routerId, name]));
  for (const { name, routerId, inventory } of reports.duplicates) {
    const holder = holders.get(routerId);
    if (holder === undefined) continue;
    const change = found.get(routerId) ?? {
      routerId,
      hardwareId: inventory.facts.hardware_id,
      holder: { name: holder, host: reports.hostOf(holder) },
      others: [],
    };
    change.others.push({ name, host: inventory.host ?? null });
    found.set(routerId, change);
  }
  return [...found.values()];
}
