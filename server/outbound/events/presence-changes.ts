import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import { Periodic } from '../../platform/core/periodic.ts';

export interface KnownRouter {
  id: string;
  team_id: string;
  identity: string;
}

export interface PresenceChangesDeps {
  clock: Clock;
  log: Log;
  /** Whether the router answers, as far as is known. */
  hasPulse: (routerId: string) => boolean;
  onChange: (router: KnownRouter, online: boolean) => void;
  /** How often to check for silent routers, milliseconds. */
  sweepMs: number;
}

/** Detects changes of `has_pulse` of routers, by reports of agents or by silence. */
export class PresenceChanges {
  readonly #deps: PresenceChangesDeps;
  readonly #routers = new Map<string, { router: KnownRouter; online: boolean }>();
  readonly #sweeps: Periodic;

  constructor(deps: PresenceChangesDeps) {
    this.#deps = deps;
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: deps.sweepMs,
      failure: 'the check for silent routers failed',
      run: () => {
        for (const routerId of this.#routers.keys()) this.check(routerId);
      },
    });
  }

  /**
   * @param routers known routers, whose current state is not a change
   * @param published the last published state of a router, if known: a difference from it is a change
   */
  start(routers: readonly KnownRouter[], published: (router: KnownRouter) => boolean | undefined): void {
    for (const router of routers) this.#routers.set(router.id, { router, online: published(router) ?? this.#deps.hasPulse(router.id) });
    this.#sweeps.start();
  }

  /** Routers that were last published as online, by team. */
  get online(): Map<string, string[]> {
    const known = [...this.#routers.values()].filter(({ online }) => online).map(({ router }) => router);
    return new Map(
      [...Map.groupBy(known, ({ team_id: teamId }) => teamId)].map(([teamId, routers]) => [teamId, routers.map(({ id }) => id)]),
    );
  }

  async stop(): Promise<void> {
    await this.#sweeps.stop();
  }

  /** Adds or updates a router. A new router that answers is a change. */
  onInventory(router: KnownRouter): void {
    const online = this.#routers.get(router.id)?.online ?? false;
    this.#routers.set(router.id, { router, online });
    this.check(router.id);
  }

  /** Stops reporting a removed router. */
  forget(routerId: string): void {
    this.#routers.delete(routerId);
  }

  check(routerId: string): void {
    const known = this.#routers.get(routerId);
    if (!known) return;
    const online = this.#deps.hasPulse(routerId);
    if (online === known.online) return;
    known.online = online;
    this.#deps.onChange(known.router, online);
  }
}
