import type { Finding } from './types.ts';

/** All routers of an agent that lost sight, or got it back, together. */
export interface AgentChange {
  teamId: string;
  agentId: string;
  kind: 'open' | 'resolve';
  /** When it began, or ended. */
  at: number;
  /** Of `open`. */
  finding: Finding | undefined;
  routerIds: string[];
}

/** The same for one router. */
export type AgentsRouterChange = Omit<AgentChange, 'routerIds'> & { routerId: string };

interface Waiting extends Omit<AgentChange, 'routerIds'> {
  routerIds: Set<string>;
}

/** Changes of one agent that wait. An agent that comes and goes while the database is away keeps the first and the last of each router. */
const MOST_OF_AGENT = 6;

/**
 * Faults `agent_offline` that are not stored yet: one change for an agent, however many routers are behind it. Nothing is dropped; the
 * size is bounded by the agents and routers that there are.
 */
export class WaitingAgents {
  readonly #byAgent = new Map<string, Waiting[]>();

  get size(): number {
    return this.#byAgent.size;
  }

  add({ routerId, ...change }: AgentsRouterChange): void {
    const changes = this.#byAgent.get(change.agentId) ?? [];
    const last = changes.at(-1);
    if (last?.kind === change.kind && last.teamId === change.teamId) last.routerIds.add(routerId);
    else changes.push({ ...change, routerIds: new Set([routerId]) });
    this.#byAgent.set(change.agentId, changes.length > MOST_OF_AGENT ? withoutFlaps(changes) : changes);
  }

  /** The changes of the agent that waits longest, in order. */
  take(): AgentChange[] {
    for (const [agentId, changes] of this.#byAgent) {
      this.#byAgent.delete(agentId);
      return changes.map((change) => ({ ...change, routerIds: [...change.routerIds] }));
    }
    return [];
  }
}

/** Leaves each router its first change, and its last one if that differs: those between them cancel each other. */
function withoutFlaps(changes: readonly Waiting[]): Waiting[] {
  const ofRouter = new Map<string, Waiting[]>();
  for (const change of changes)
    for (const routerId of change.routerIds) {
      const list = ofRouter.get(routerId) ?? [];
      ofRouter.set(routerId, list);
      list.push(change);
    }
  const kept: Waiting[] = [];
  const keep = (change: Waiting, routerId: string): void => {
    const same = kept.find(({ kind, at }) => kind === change.kind && at === change.at);
    if (same) same.routerIds.add(routerId);
    else kept.push({ ...change, routerIds: new Set([routerId]) });
  };
  for (const [routerId, list] of ofRouter) {
    const [first, last] = [list[0]!, list.at(-1)!];
    keep(first, routerId);
    if (last.kind !== first.kind) keep(last, routerId);
  }
  return kept.toSorted((one, other) => changes.findIndex(isOf(one)) - changes.findIndex(isOf(other)));
}

function isOf({ kind, at }: Waiting): (change: Waiting) => boolean {
  return (change) => change.kind === kind && change.at === at;
}
