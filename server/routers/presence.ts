import type { Presence } from './types.ts';

export interface PresenceRules {
  /** A router that has not been seen for this long has no pulse, whatever was last said. */
  offlineAfterMs: number;
}

/** A heartbeat's word on one router. */
export interface HeardBeat {
  reachable: boolean;
  uptimeSeconds: number | null;
  /** Why it does not answer, or cannot be read, for people. */
  reason?: string | null;
  /** When it came, milliseconds since 1970, and from which address. */
  at: number;
  from: string;
}

const NEVER_SEEN: Presence = { reachable: false, uptimeSeconds: null, lastSeenAt: null, lastSeenFrom: null };

/**
 * Last-seen of all routers, kept in memory because it changes with every heartbeat; the owner flushes what
 * changed to the database now and then, and loads it at start.
 */
export class PresenceBoard {
  readonly #byRouter = new Map<string, Presence>();
  readonly #changed = new Set<string>();
  readonly #rules: PresenceRules;

  constructor(rules: PresenceRules) {
    this.#rules = rules;
  }

  load(routerId: string, presence: Presence): void {
    this.#byRouter.set(routerId, presence);
  }

  get(routerId: string): Presence {
    return this.#byRouter.get(routerId) ?? NEVER_SEEN;
  }

  /** An unreachable router keeps its last-seen. */
  record(routerId: string, beat: HeardBeat): void {
    const before = this.get(routerId);
    this.#byRouter.set(
      routerId,
      beat.reachable
        ? { reachable: true, uptimeSeconds: beat.uptimeSeconds ?? before.uptimeSeconds, lastSeenAt: beat.at, lastSeenFrom: beat.from }
        : { ...before, reachable: false },
    );
    this.#changed.add(routerId);
  }

  /** Is the router itself answering, as far as is known now? */
  hasPulse(routerId: string, now: number): boolean {
    const presence = this.get(routerId);
    return presence.reachable && presence.lastSeenAt !== null && now - presence.lastSeenAt <= this.#rules.offlineAfterMs;
  }

  /** Uptime in seconds, running on since the last heartbeat while the router has a pulse. */
  uptimeSeconds(routerId: string, now: number): number | null {
    const { uptimeSeconds, lastSeenAt } = this.get(routerId);
    if (uptimeSeconds === null || lastSeenAt === null) return null;
    return this.hasPulse(routerId, now) ? uptimeSeconds + (now - lastSeenAt) / 1000 : uptimeSeconds;
  }

  /** The router is no more; what was last heard of it is true of its successor. */
  forget(routerId: string, successorId?: string): void {
    const last = this.#byRouter.get(routerId);
    this.#byRouter.delete(routerId);
    this.#changed.delete(routerId);
    if (successorId === undefined) return;
    if (last) this.#byRouter.set(successorId, last);
    else this.#byRouter.delete(successorId);
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
