import type { ListedRouter } from '../../fleet/routers/types.ts';

/** Facts of a router in its event. */
export type Facts = Pick<ListedRouter, 'identity' | 'software_version' | 'model' | 'board_name' | 'serial_number'>;

/**
 * What lists show of each router: an agent sends an inventory whenever it connects, and most of them change nothing. One entry for each router
 * of the database, which has limits of its own.
 */
export class RouterFacts {
  readonly #known = new Map<string, string>();

  load(routers: readonly ListedRouter[]): void {
    for (const router of routers) this.#known.set(router.id, textOf(factsOf(router)));
  }

  /** @returns the facts when they differ from what was known; undefined also for a router that is seen for the first time */
  note(router: ListedRouter): Facts | undefined {
    const facts = factsOf(router);
    const [before, now] = [this.#known.get(router.id), textOf(facts)];
    this.#known.set(router.id, now);
    return before === undefined || before === now ? undefined : facts;
  }

  /** Another control plane has published these. */
  told(routerId: string, facts: Facts): void {
    this.#known.set(routerId, textOf(factsOf(facts)));
  }

  forget(routerId: string): void {
    this.#known.delete(routerId);
  }
}

function factsOf({ identity, software_version, model, board_name, serial_number }: Facts): Facts {
  return { identity, software_version, model, board_name, serial_number };
}

function textOf(facts: Facts): string {
  return JSON.stringify(facts);
}
