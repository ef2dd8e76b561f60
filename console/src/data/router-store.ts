import type { Router, StreamEvent } from '../../../client/browser.ts';
import { ranksOf } from './ranks.ts';

/** The state of a router, as an event tells it. */
type StateOfRouter = Pick<Router, 'state' | 'state_since' | 'state_reason'>;

/** Counts and orders of all routers follow at most this often, milliseconds; a row shows its own router's change at once. */
const FOLLOW_MS = 500;

/** The routers of the team by id. A row listens to its own router, so that a change renders one row. */
export class RouterStore {
  #routers = new Map<string, Router>();
  #ranks: ReadonlyMap<string, number> | undefined;
  #version = 0;
  #following: ReturnType<typeof setTimeout> | undefined;
  #hasMore = false;
  /** What has changed since a reading of all routers began, by router. */
  #newer: Map<string, Partial<Router>> | undefined;
  readonly #rows = new Map<string, Set<() => void>>();
  readonly #all = new Set<() => void>();

  /** Changes after any router has changed; for counts and orders. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#routers.size;
  }

  get(id: string): Router | undefined {
    return this.#routers.get(id);
  }

  values(): Router[] {
    return [...this.#routers.values()];
  }

  load(routers: readonly Router[]): void {
    this.#routers = new Map(routers.map((router) => [router.id, router]));
    this.#ranks = undefined;
    for (const listeners of this.#rows.values()) for (const listener of listeners) listener();
    this.#tellAll();
  }

  /** Reads all routers again. What changes meanwhile is newer than what is read, and stays. */
  async reload(read: () => Promise<readonly Router[]>): Promise<void> {
    const newer = new Map<string, Partial<Router>>();
    this.#newer = newer;
    try {
      this.load((await read()).map((router) => ({ ...router, ...newer.get(router.id) })));
    } finally {
      this.#newer = undefined;
    }
  }

  /** @returns true when the list has to be read again: a router that is not known here, or lost events */
  apply(events: readonly StreamEvent[]): boolean {
    let isStale = false;
    let isChanged = false;
    for (const { type, data } of events) {
      if (type === 'resync' || type === 'router.removed' || type === 'router.moved' || type === 'router.replaced') isStale = true;
      if (type === 'agent.updated' && typeof data['name'] === 'string' && this.#renameAgent(data['agent_id'], data['name']))
        isChanged = true;
      if (type !== 'router.changed' && type !== 'router.updated') continue;
      const change = type === 'router.changed' ? stateOf(data as unknown as StateOfRouter) : factsOf(data);
      if (this.#change(String(data['router_id']), change)) isChanged = true;
      else isStale = true;
    }
    if (isChanged) this.#changed();
    return isStale;
  }

  /** The order of identities, as numbers. */
  byName = (one: Router, other: Router): number => {
    this.#ranks ??= ranksOf(this.values().map(({ identity }) => identity));
    return (this.#ranks.get(one.identity) ?? 0) - (this.#ranks.get(other.identity) ?? 0);
  };

  /** A field that this person has just changed: the list shows it before its event arrives. */
  amend(id: string, change: Partial<Router>): void {
    if (this.#change(id, change)) this.#changed();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  };

  subscribeTo(id: string, listener: () => void): () => void {
    const listeners = this.#rows.get(id) ?? new Set();
    this.#rows.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#rows.get(id) === listeners) this.#rows.delete(id);
    };
  }

  #change(id: string, change: Partial<Router>): boolean {
    const router = this.#routers.get(id);
    if (!router) return false;
    this.#routers.set(id, { ...router, ...change });
    if (change.identity !== undefined && change.identity !== router.identity) this.#ranks = undefined;
    this.#newer?.set(id, { ...this.#newer.get(id), ...change });
    for (const listener of this.#rows.get(id) ?? []) listener();
    return true;
  }

  #renameAgent(agentId: unknown, name: string): boolean {
    const named = this.values().filter(({ agent_id: id }) => id === agentId);
    for (const { id } of named) this.#change(id, { agent_name: name });
    return named.length > 0;
  }

  /** The first of many changes at once, the others together: sorting thousands of routers ten times a second leaves no time for the person. */
  #changed(): void {
    if (this.#following !== undefined) {
      this.#hasMore = true;
      return;
    }
    this.#following = setTimeout(() => {
      this.#following = undefined;
      if (this.#hasMore) this.#changed();
    }, FOLLOW_MS);
    this.#tellAll();
  }

  #tellAll(): void {
    this.#hasMore = false;
    this.#version += 1;
    for (const listener of this.#all) listener();
  }
}

/** Without what else an event holds. */
function stateOf({ state, state_since, state_reason }: StateOfRouter): StateOfRouter {
  return { state, state_since, state_reason };
}

/** Facts that an inventory or a person may change. */
const FACTS = ['identity', 'software_version', 'model', 'board_name', 'serial_number', 'site_id'] as const;

/** Those of the facts that an event names. */
function factsOf(data: StreamEvent['data']): Partial<Router> {
  return Object.fromEntries(FACTS.filter((name) => name in data).map((name) => [name, data[name]]));
}
