import type { RouterReason } from '../../../protocol/index.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Presence } from './types.ts';

export interface PresenceRules {
  /** A router that has not been seen for this long has no pulse, whatever was last said. */
  offlineAfterMs: number;
}

/** A heartbeat's word on one router. */
export interface RouterHeartbeat {
  reachable: boolean;
  uptimeSeconds: number | null;
  /** Why it does not answer, or cannot be read, for people. */
  reason?: string | null;
  /** The same in one word. */
  reasonCode?: RouterReason;
  /** When it came, milliseconds since 1970, and from which address. */
  at: number;
  from: string;
}

const NEVER_SEEN: Presence = { reachable: false, uptimeSeconds: null, lastSeenAt: null, lastSeenFrom: null };

/**
 * Last-seen of all routers, kept in memory because it changes with every heartbeat; the owner flushes what
 * changed to the database now and then, and loads it at start.
 */
export class PresenceTracker {
  readonly #byRouter = new Map<string, Presence>();
  /** When they last answered, by the clock that nobody sets: `lastSeenAt` is for people. */
  readonly #answeredAt = new Map<string, number>();
  readonly #changed = new Set<string>();
  readonly #rules: PresenceRules;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;

  constructor(rules: PresenceRules, clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#rules = rules;
    this.#clock = clock;
  }

  /** What an earlier process stored. If the clock was set back since, its last word counts as just said. */
  load(routerId: string, presence: Presence): void {
    this.#byRouter.set(routerId, presence);
    if (presence.lastSeenAt !== null) this.#answeredAt.set(routerId, this.#elapsedAt(presence.lastSeenAt));
  }

  get(routerId: string): Presence {
    return this.#byRouter.get(routerId) ?? NEVER_SEEN;
  }

  /** An unreachable router keeps its last-seen. */
  record(routerId: string, heartbeat: RouterHeartbeat): void {
    const before = this.get(routerId);
    this.#byRouter.set(
      routerId,
      heartbeat.reachable
        ? {
            reachable: true,
            uptimeSeconds: heartbeat.uptimeSeconds ?? before.uptimeSeconds,
            lastSeenAt: heartbeat.at,
            lastSeenFrom: heartbeat.from,
          }
        : { ...before, reachable: false },
    );
    if (heartbeat.reachable) this.#answeredAt.set(routerId, this.#elapsedAt(heartbeat.at));
    this.#changed.add(routerId);
  }

  /** Is the router itself answering, as far as is known now? */
  isAnswering(routerId: string): boolean {
    return this.get(routerId).reachable && this.#silentForMs(routerId) <= this.#rules.offlineAfterMs;
  }

  /** Uptime in seconds, running on since the last heartbeat while the router has a pulse. */
  uptimeSeconds(routerId: string): number | null {
    const { uptimeSeconds, lastSeenAt } = this.get(routerId);
    if (uptimeSeconds === null || lastSeenAt === null) return null;
    return this.isAnswering(routerId) ? uptimeSeconds + this.#silentForMs(routerId) / 1000 : uptimeSeconds;
  }

  #silentForMs(routerId: string): number {
    return this.#clock.monotonic() - (this.#answeredAt.get(routerId) ?? Number.NEGATIVE_INFINITY);
  }

  /** A moment of the past, by elapsed time. */
  #elapsedAt(wallMs: number): number {
    return this.#clock.monotonic() - Math.max(0, this.#clock.now() - wallMs);
  }

  /** The router is no more; what was last heard of it is true of its successor. */
  forget(routerId: string, successorId?: string): void {
    const last = this.#byRouter.get(routerId);
    const answeredAt = this.#answeredAt.get(routerId);
    this.#byRouter.delete(routerId);
    this.#answeredAt.delete(routerId);
    this.#changed.delete(routerId);
    if (successorId === undefined) return;
    if (last) this.#byRouter.set(successorId, last);
    else this.#byRouter.delete(successorId);
    if (answeredAt === undefined) this.#answeredAt.delete(successorId);
    else this.#answeredAt.set(successorId, answeredAt);
    this.#changed.add(successorId);
  }

  /** What changed since the last call. If storing it fails, give the ids back with {@link markChanged}. */
  takeChanged(): { routerId: string; presence: Presence }[] {
    const taken = [...this.#changed].map((routerId) => ({ routerId, presence: this.get(routerId) }));
    this.#changed.clear();
    return taken;
  }

  markChanged(routerIds: Iterable<string>): void {
    for (const id of routerIds) this.#changed.add(id);
  }
}
