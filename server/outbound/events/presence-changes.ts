import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import { NextMoments } from '../../platform/core/next-moments.ts';
import { Periodic } from '../../platform/core/periodic.ts';

export interface KnownRouter {
  id: string;
  team_id: string;
  identity: string;
  agent_id: string;
}

interface State {
  router: KnownRouter;
  /** What was published last. */
  online: boolean;
  /** What this control plane has published and has not come back from the others yet. */
  said?: boolean | undefined;
}

/** How late a control plane finds that it publishes the changes of further routers. */
const LOOK_AT_ALL_EVERY_MS = 5000;

export interface PresenceChangesDeps {
  clock: Clock;
  log: Log;
  /** Until when the router counts as answering if nothing more is heard of it, in monotonic time; undefined when it does not answer. */
  answersUntil: (routerId: string) => number | undefined;
  onChange: (router: KnownRouter, online: boolean) => void;
  /**
   * Whether this control plane is the one of several that publishes changes of the routers of this agent; {@link PresenceChanges.told} then says what has been
   * published. Without it this one publishes all changes.
   */
  watches?: ((agentId: string) => boolean) | undefined;
  /** How often to check for silent routers, milliseconds. */
  sweepMs: number;
}

/** Detects changes of `has_pulse` of routers, by reports of agents or by silence. */
export class PresenceChanges {
  readonly #deps: PresenceChangesDeps;
  readonly #routers = new Map<string, State>();
  /** What was published of routers that this control plane has not heard of yet. */
  readonly #told = new Map<string, boolean>();
  /** When routers that answer are silent if nothing more is heard of them. */
  readonly #silences = new NextMoments();
  readonly #sweeps: Periodic;
  /** Of several control planes: who publishes the changes of a router changes by time alone. */
  readonly #looks: Periodic | undefined;

  constructor(deps: PresenceChangesDeps) {
    this.#deps = deps;
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: deps.sweepMs,
      failure: 'the check for silent routers failed',
      run: () => this.#checkSilent(),
    });
    this.#looks = deps.watches && this.#looksAtAll();
  }

  #looksAtAll(): Periodic {
    const { clock, log } = this.#deps;
    return new Periodic({
      clock,
      log,
      everyMs: LOOK_AT_ALL_EVERY_MS,
      failure: 'the check of all routers failed',
      run: () => {
        for (const id of this.#routers.keys()) this.check(id);
      },
    });
  }

  /**
   * @param routers known routers, whose current state is not a change
   * @param published the last published state of a router, if known: a difference from it is a change
   */
  start(routers: readonly KnownRouter[], published: (router: KnownRouter) => boolean | undefined): void {
    for (const router of routers) {
      const online = published(router) ?? this.#told.get(router.id) ?? this.#hasPulse(router.id);
      this.#told.delete(router.id);
      this.#routers.set(router.id, { router, online });
      // The first sweep publishes what differs from what was published.
      this.#silences.atLatest(router.id, Number.NEGATIVE_INFINITY);
    }
    this.#sweeps.start();
    this.#looks?.start();
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
    await this.#looks?.stop();
  }

  /** Adds or updates a router. A new router that answers is a change. */
  onInventory(router: KnownRouter): void {
    const known = this.#routers.get(router.id);
    const online = known?.online ?? this.#told.get(router.id) ?? false;
    this.#told.delete(router.id);
    this.#routers.set(router.id, { router, online, said: known?.said });
    this.check(router.id);
    // What was heard of its predecessor may become its own after this.
    this.#silences.atLatest(router.id, Number.NEGATIVE_INFINITY);
  }

  /** Stops reporting a removed router. */
  forget(routerId: string): void {
    this.#routers.delete(routerId);
    this.#told.delete(routerId);
    this.#silences.delete(routerId);
  }

  /** Call it when something was heard of the router. */
  check(routerId: string): void {
    const known = this.#routers.get(routerId);
    if (!known) return;
    const { watches, onChange } = this.#deps;
    if (watches?.(known.router.agent_id) === false) return;
    const online = this.#hasPulse(routerId);
    if (online === known.online) return;
    known.online = online;
    if (watches) known.said = online;
    onChange(known.router, online);
  }

  /** One of several control planes, perhaps this one, has published this. */
  told(routerId: string, online: boolean): void {
    const known = this.#routers.get(routerId);
    if (!known) {
      this.#told.set(routerId, online);
      return;
    }
    if (known.said === undefined) {
      known.online = online;
      // It may be this one that knows better.
      this.#silences.atLatest(routerId, Number.NEGATIVE_INFINITY);
    } else if (known.said === online) known.said = undefined;
  }

  /** What was published may have been lost on its way: nothing of it is waited for any more. */
  forgetSaid(): void {
    for (const known of this.#routers.values()) known.said = undefined;
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
