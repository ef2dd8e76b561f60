import type { LiveForward } from './live-forward.ts';

/**
 * The forwards that this process carries, by id, by router and by agent: an agent that connects and a router that is reported cost
 * what their own forwards cost, however many others are open. Bounded by the open forwards, which {@link FORWARD_LIMITS} and the
 * port range bound.
 */
export class LiveForwards {
  readonly #byId = new Map<string, LiveForward>();
  readonly #byRouter = new Map<string, Set<LiveForward>>();
  /** Those without an agent are not in it. */
  readonly #byAgent = new Map<string, Set<LiveForward>>();

  /** Adds a forward; another one with its id is replaced. */
  add(live: LiveForward): void {
    if (this.#byId.get(live.id) === live) return;
    this.delete(live.id);
    this.#byId.set(live.id, live);
    join(this.#byRouter, live.routerId, live);
    join(this.#byAgent, live.agentId, live);
  }

  delete(id: string): void {
    const live = this.#byId.get(id);
    if (!live) return;
    this.#byId.delete(id);
    leave(this.#byRouter, live.routerId, live);
    leave(this.#byAgent, live.agentId, live);
  }

  /** A forward has another agent than `former` now. Of no effect for one that was not added. */
  agentChanged(live: LiveForward, former: string): void {
    if (this.#byId.get(live.id) !== live) return;
    leave(this.#byAgent, former, live);
    join(this.#byAgent, live.agentId, live);
  }

  clear(): void {
    this.#byId.clear();
    this.#byRouter.clear();
    this.#byAgent.clear();
  }

  get(id: string): LiveForward | undefined {
    return this.#byId.get(id);
  }

  /** A snapshot, as are {@link ofRouter} and {@link ofAgent}: forwards may be removed and change their agent meanwhile. */
  all(): LiveForward[] {
    return [...this.#byId.values()];
  }

  ofRouter(routerId: string): LiveForward[] {
    return [...(this.#byRouter.get(routerId) ?? [])];
  }

  ofAgent(agentId: string): LiveForward[] {
    return [...(this.#byAgent.get(agentId) ?? [])];
  }
}

function join(groups: Map<string, Set<LiveForward>>, key: string, live: LiveForward): void {
  if (key === '') return;
  const group = groups.get(key);
  if (group) group.add(live);
  else groups.set(key, new Set([live]));
}

function leave(groups: Map<string, Set<LiveForward>>, key: string, live: LiveForward): void {
  const group = groups.get(key);
  if (group?.delete(live) && group.size === 0) groups.delete(key);
}
