import type { Finding } from './types.ts';

/** One of the routers of a change, and when it lost sight or got it back: an agent that is back reads its routers one after the other. */
export interface ChangedRouter {
  id: string;
  at: number;
}

/** All routers of an agent that lost sight, or got it back, together. */
export interface AgentChange {
  teamId: string;
  agentId: string;
  kind: 'open' | 'resolve';
  /** When it began, or ended, for the first of them. */
  at: number;
  /** Of `open`. */
  finding: Finding | undefined;
  routers: ChangedRouter[];
}

/** The same for one router. */
export type AgentsRouterChange = Omit<AgentChange, 'routers'> & { routerId: string };

interface Waiting extends Omit<AgentChange, 'at' | 'routers'> {
  /** Moments by router. */
  routers: Map<string, number>;
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

  add({ routerId, at, ...change }: AgentsRouterChange): void {
    const changes = this.#byAgent.get(change.agentId) ?? [];
    const last = changes.at(-1);
    if (last?.kind === change.kind && last.teamId === change.teamId) last.routers.set(routerId, at);
    else changes.push({ ...change, routers: new Map([[routerId, at]]) });
    this.#byAgent.set(change.agentId, changes.length > MOST_OF_AGENT ? withoutFlaps(changes) : changes);
  }

  /** The changes of the agent that waits longest, in order. */
  take(): AgentChange[] {
    for (const [agentId, changes] of this.#byAgent) {
      this.#byAgent.delete(agentId);
      return changes.map(({ routers, ...change }) => ({
        ...change,
        at: Math.min(...routers.values()),
        routers: Array.from(routers, ([id, at]) => ({ id, at })),
      }));
    }
    return [];
  }
}

/** Leaves each router its first change, and its last one if that differs: those between them cancel each other. */
function withoutFlaps(changes: readonly Waiting[]): Waiting[] {
  const ofRouter = new Map<string, { first: Waiting; last: Waiting }>();
  for (const change of changes)
    for (const id of change.routers.keys()) ofRouter.set(id, { first: ofRouter.get(id)?.first ?? change, last: change });
  const kept = changes.map((change) => ({ ...change, routers: new Map<string, number>() }));
  changes.forEach((change, index) => {
    for (const [id, at] of change.routers) {
      const { first, last } = ofRouter.get(id)!;
      if (change === first || (change === last && last.kind !== first.kind)) kept[index]!.routers.set(id, at);
    }
  });
  return merged(kept.filter(({ routers }) => routers.size > 0));
}

/** Neighbours of one kind are one change: they have no router in common, because the changes of a router alternate. */
function merged(changes: readonly Waiting[]): Waiting[] {
  const result: Waiting[] = [];
  for (const change of changes) {
    const last = result.at(-1);
    if (last?.kind === change.kind && last.teamId === change.teamId) for (const [id, at] of change.routers) last.routers.set(id, at);
    else result.push(change);
  }
  return result;
}
