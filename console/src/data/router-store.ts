import type { Router, StreamEvent } from '../../../client/browser.ts';

/** The state of a router, as an event tells it. */
type StateOfRouter = Pick<Router, 'state' | 'state_since' | 'state_reason'>;

/** The routers of the team by id. A row listens to its own router, so that a change renders one row. */
export class RouterStore {
  #routers = new Map<string, Router>();
  /** Changes whenever any router changes; for counts and orders. */
  #version = 0;
  readonly #rows = new Map<string, Set<() => void>>();
  readonly #all = new Set<() => void>();

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
    for (const listeners of this.#rows.values()) for (const listener of listeners) listener();
    this.#changed();
  }

  /** @returns true when the list has to be read again: a router that is not known here, or lost events */
  apply(events: readonly StreamEvent[]): boolean {
    let isStale = false;
    for (const { type, data } of events) {
      if (type === 'resync' || type === 'router.removed' || type === 'router.moved' || type === 'router.replaced') isStale = true;
      if (type === 'router.changed') isStale = !this.#change(String(data['router_id']), data as unknown as StateOfRouter) || isStale;
    }
    this.#changed();
    return isStale;
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

  #change(id: string, { state, state_since, state_reason }: StateOfRouter): boolean {
    const router = this.#routers.get(id);
    if (!router) return false;
    this.#routers.set(id, { ...router, state, state_since, state_reason });
    for (const listener of this.#rows.get(id) ?? []) listener();
    return true;
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#all) listener();
  }
}
