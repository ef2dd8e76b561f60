import type { RouterFacts } from './rule.ts';
import type { StateRow } from './types.ts';

/** The times of facts are monotonic; those of the state are milliseconds since 1970. */
export interface Tracked extends Omit<RouterFacts, 'agent'> {
  id: string;
  teamId: string;
  identity: string;
  agentId: string;
  /** The name of its entry at the agent. */
  name: string;
  current: StateRow;
  /** When the present state began; `current.since` is the same moment for people. */
  since: number;
}

/** All routers that are not removed, by id, by agent and by team. */
export class TrackedRouters {
  readonly #byId = new Map<string, Tracked>();
  readonly #byAgent = new Map<string, Set<Tracked>>();
  readonly #byTeam = new Map<string, Set<Tracked>>();

  get(routerId: string): Tracked | undefined {
    return this.#byId.get(routerId);
  }

  all(): Iterable<Tracked> {
    return this.#byId.values();
  }

  ofAgent(agentId: string): Iterable<Tracked> {
    return this.#byAgent.get(agentId) ?? [];
  }

  ofTeam(teamId: string): Iterable<Tracked> {
    return this.#byTeam.get(teamId) ?? [];
  }

  get teamIds(): string[] {
    return [...this.#byTeam.keys()];
  }

  /** One with the same id is replaced. */
  add(router: Tracked): void {
    this.remove(router.id);
    this.#byId.set(router.id, router);
    addTo(this.#byAgent, router.agentId, router);
    addTo(this.#byTeam, router.teamId, router);
  }

  remove(routerId: string): Tracked | undefined {
    const router = this.#byId.get(routerId);
    if (!router) return undefined;
    this.#byId.delete(routerId);
    removeFrom(this.#byAgent, router.agentId, router);
    removeFrom(this.#byTeam, router.teamId, router);
    return router;
  }

  /** The router has another agent now. */
  move(router: Tracked, agentId: string): void {
    removeFrom(this.#byAgent, router.agentId, router);
    addTo(this.#byAgent, agentId, router);
    router.agentId = agentId;
  }
}

function addTo(index: Map<string, Set<Tracked>>, key: string, router: Tracked): void {
  const routers = index.get(key);
  if (routers) routers.add(router);
  else index.set(key, new Set([router]));
}

/** A key without routers takes no memory. */
function removeFrom(index: Map<string, Set<Tracked>>, key: string, router: Tracked): void {
  const routers = index.get(key);
  routers?.delete(router);
  if (routers?.size === 0) index.delete(key);
}
