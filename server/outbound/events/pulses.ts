import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import { Periodic } from '../../platform/core/periodic.ts';

export interface KnownRouter {
  id: string;
  team_id: string;
  identity: string;
}

export interface PulseDeps {
  clock: Clock;
  log: Log;
  /** Does the router answer, as far as is known now? */
  hasPulse: (routerId: string) => boolean;
  onChange: (router: KnownRouter, online: boolean) => void;
  /** How often silence is looked for, milliseconds. */
  sweepMs: number;
}

/** Notices when `has_pulse` of a router changes: by what its agent says, or by silence. */
export class RouterPulses {
  readonly #deps: PulseDeps;
  readonly #routers = new Map<string, { router: KnownRouter; online: boolean }>();
  readonly #sweeps: Periodic;

  constructor(deps: PulseDeps) {
    this.#deps = deps;
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: deps.sweepMs,
      failure: 'routers that fell silent could not be looked for',
      run: () => {
        for (const routerId of this.#routers.keys()) this.onHeartbeat(routerId);
      },
    });
  }

  /**
   * @param routers those known from before, whose present state is no news
   * @param told what was last said of a router, where that is remembered: what changed since then is news
   */
  start(routers: readonly KnownRouter[], told: (router: KnownRouter) => boolean | undefined): void {
    for (const router of routers) this.#routers.set(router.id, { router, online: told(router) ?? this.#deps.hasPulse(router.id) });
    this.#sweeps.start();
  }

  /** Routers of which the last word is that they are online, by team. */
  get online(): Map<string, string[]> {
    const known = [...this.#routers.values()].filter(({ online }) => online).map(({ router }) => router);
    return new Map(
      [...Map.groupBy(known, ({ team_id: teamId }) => teamId)].map(([teamId, routers]) => [teamId, routers.map(({ id }) => id)]),
    );
  }

  async stop(): Promise<void> {
    await this.#sweeps.stop();
  }

  /** Who a router is; a new one is news if it answers. */
  onInventory(router: KnownRouter): void {
    const online = this.#routers.get(router.id)?.online ?? false;
    this.#routers.set(router.id, { router, online });
    this.onHeartbeat(router.id);
  }

  /** The router is no more: of it nothing is told any more. */
  forget(routerId: string): void {
    this.#routers.delete(routerId);
  }

  onHeartbeat(routerId: string): void {
    const known = this.#routers.get(routerId);
    if (!known) return;
    const online = this.#deps.hasPulse(routerId);
    if (online === known.online) return;
    known.online = online;
    this.#deps.onChange(known.router, online);
  }
}
