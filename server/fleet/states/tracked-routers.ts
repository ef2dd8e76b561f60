import { countStates } from './counts.ts';
import type { RouterFacts } from './rule.ts';
import type { RouterStateName, StateOfRouter, StateRow } from './types.ts';
import { FewSet } from '../../platform/core/few.ts';

/** The times of facts are monotonic; those of the state are milliseconds since 1970. */
export interface Tracked extends Omit<RouterFacts, 'agent'> {
  id: string;
  teamId: string;
  identity: string;
  agentId: string;
  /** The name of its entry at the agent. */
  name: string;
  /** Set by {@link TrackedRouters.enter} only, which counts. */
  current: StateRow;
  /** When the present state began; `current.since` is the same moment for people. */
  since: number;
}

/** All routers that are not removed, by id, by agent and by team. */
export class TrackedRouters {
  readonly #byId = new Map<string, Tracked>();
  readonly #byAgent = new Map<string, FewSet<Tracked>>();
  readonly #byTeam = new Map<string, Set<Tracked>>();
  readonly #countsByTeam = new Map<string, Record<RouterStateName, number>>();

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

  /** How many routers of a team are in each state. */
  countsOf(teamId: string): Record<RouterStateName, number> {
    return { ...(this.#countsByTeam.get(teamId) ?? countStates([])) };
  }

  /** The router is in this state now, or goes on in it. */
  enter(router: Tracked, row: StateRow): void {
    const isTracked = this.#byId.get(router.id) === router;
    if (isTracked) this.#count(router, -1);
    router.current = row;
    if (isTracked) this.#count(router, 1);
  }

  /** One with the same id is replaced. */
  add(router: Tracked): void {
    this.remove(router.id);
    this.#byId.set(router.id, router);
    addTo(this.#byAgent, router.agentId, router, () => new FewSet());
    addTo(this.#byTeam, router.teamId, router, () => new Set());
    this.#count(router, 1);
  }

  remove(routerId: string): Tracked | undefined {
    const router = this.#byId.get(routerId);
    if (!router) return undefined;
    this.#byId.delete(routerId);
    removeFrom(this.#byAgent, router.agentId, router);
    removeFrom(this.#byTeam, router.teamId, router);
    this.#count(router, -1);
    if (!this.#byTeam.has(router.teamId)) this.#countsByTeam.delete(router.teamId);
    return router;
  }

  /** The router has another agent now. */
  move(router: Tracked, agentId: string): void {
    removeFrom(this.#byAgent, router.agentId, router);
    addTo(this.#byAgent, agentId, router, () => new FewSet());
    router.agentId = agentId;
  }

  #count({ teamId, current }: Tracked, change: 1 | -1): void {
    const counts = this.#countsByTeam.get(teamId) ?? countStates([]);
    this.#countsByTeam.set(teamId, counts);
    counts[current.state as RouterStateName] += change;
  }
}

function addTo<S extends Set<Tracked> | FewSet<Tracked>>(index: Map<string, S>, key: string, router: Tracked, create: () => S): void {
  const routers = index.get(key) ?? create();
  routers.add(router);
  index.set(key, routers);
}

/** A key without routers takes no memory. */
function removeFrom(index: Map<string, Set<Tracked> | FewSet<Tracked>>, key: string, router: Tracked): void {
  const routers = index.get(key);
  routers?.delete(router);
  if (routers?.size === 0) index.delete(key);
}

export function stateOfTracked({ id, agentId, current: { state, since, reason } }: Tracked): StateOfRouter {
  return { id, agentId, state: state as RouterStateName, since, reason };
}
