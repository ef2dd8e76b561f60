import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import { NextMoments } from '../../platform/core/next-moments.ts';
import { Periodic } from '../../platform/core/periodic.ts';

export interface KnownRouter {
  id: string;
  team_id: string;
  identity: string;
}

export interface PresenceChangesDeps {
  clock: Clock;
  log: Log;
  /** Until when the router counts as answering if nothing more is heard of it, in monotonic time; undefined when it does not answer. */
  answersUntil: (routerId: string) => number | undefined;
  onChange: (router: KnownRouter, online: boolean) => void;
  /** How often to check for silent routers, milliseconds. */
  sweepMs: number;
}

/** Detects changes of `has_pulse` of routers, by reports of agents or by silence. */
export class PresenceChanges {
  readonly #deps: PresenceChangesDeps;
  readonly #routers = new Map<string, { router: KnownRouter; online: boolean }>();
  /** When routers that answer are silent if nothing more is heard of them. */
  readonly #silences = new NextMoments();
  readonly #sweeps: Periodic;

  constructor(deps: PresenceChangesDeps) {
    this.#deps = deps;
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: deps.sweepMs,
      failure: 'the check for silent routers failed',
      run: () => this.#checkSilent(),
    });
  }

  /**
   * @param routers known routers, whose current state is not a change
   * @param published the last published state of a router, if known: a difference from it is a change
   */
  start(routers: readonly KnownRouter[], published: (router: KnownRouter) => boolean | undefined): void {
    for (const router of routers) {
      this.#routers.set(router.id, { router, online: published(router) ?? this.#hasPulse(router.id) });
      // The first sweep publishes what differs from what was published.
      this.#silences.atLatest(router.id, Number.NEGATIVE_INFINITY);
    }
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
    // What was heard of its predecessor may become its own after this.
    this.#silences.atLatest(router.id, Number.NEGATIVE_INFINITY);
  }

  /** Stops reporting a removed router. */
  forget(routerId: string): void {
    this.#routers.delete(routerId);
    this.#silences.delete(routerId);
  }

  /** Call it when something was heard of the router. */
  check(routerId: string): void {
    const known = this.#routers.get(routerId);
    if (!known) return;
    const online = this.#hasPulse(routerId);
    if (online === known.online) return;
    known.online = online;
    this.#deps.onChange(known.router, online);
  }

  /** Also notes when it is silent. */
  #hasPulse(routerId: string): boolean {
    const until = this.#deps.answersUntil(routerId);
    if (until === undefined || this.#deps.clock.monotonic() > until) return false;
    this.#silences.atLatest(routerId, until);
    return true;
  }

  /** A router that answers becomes silent by time alone; everything else is heard of. */
  #checkSilent(): void {
    const now = this.#deps.clock.monotonic();
    for (let id = this.#silences.takePassed(now); id !== undefined; id = this.#silences.takePassed(now)) this.check(id);
  }
}
