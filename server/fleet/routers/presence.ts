import { isDeepStrictEqual } from 'node:util';
import type { RouterReason } from '../../../protocol/index.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Presence } from './types.ts';

export interface PresenceRules {
  /** A router without an answer for this long counts as not answering. */
  offlineAfterMs: number;
}

/** The part of a heartbeat about one router. */
export interface RouterHeartbeat {
  reachable: boolean;
  uptimeSeconds: number | null;
  /** Why it does not answer or cannot be read, for people. */
  reason?: string | null;
  /** The same in one word. */
  reasonCode?: RouterReason;
  /** Arrival time, milliseconds since 1970, and source address. */
  at: number;
  from: string;
}

/** Another control plane stores every two seconds what it has heard (told-presence.ts), and that is then read. */
const TOLD_LATE_MS = 3000;

const NEVER_SEEN: Presence = { reachable: false, uptimeSeconds: null, lastSeenAt: null, lastSeenFrom: null };

/**
 * Presence of all routers, kept in memory because it changes with every heartbeat. The owner flushes changes
 * to the database periodically and loads them at start.
 */
export class PresenceTracker {
  readonly #byRouter = new Map<string, Presence>();
  /** When they last answered, in monotonic time; `lastSeenAt` is wall time, for people. */
  readonly #answeredAt = new Map<string, number>();
  readonly #changed = new Set<string>();
  /** Routers of agents of other control planes: what is known of them is a little late. */
  readonly #told = new Set<string>();
  readonly #rules: PresenceRules;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;

  constructor(rules: PresenceRules, clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#rules = rules;
    this.#clock = clock;
  }

  /** Loads what an earlier process stored. A time in the future, after the clock was set back, counts as now. */
  load(routerId: string, presence: Presence): void {
    this.#byRouter.set(routerId, presence);
    if (presence.lastSeenAt !== null) this.#answeredAt.set(routerId, this.#elapsedAt(presence.lastSeenAt));
  }

  /** What another control plane has stored meanwhile. What is heard here and not stored yet is newer. */
  tell(routerId: string, presence: Presence): void {
    if (this.#changed.has(routerId)) return;
    const before = this.get(routerId);
    if (isDeepStrictEqual(before, presence)) return;
    this.#byRouter.set(routerId, presence);
    this.#told.add(routerId);
    // Clocks of machines differ, so it counts from now.
    if (presence.lastSeenAt !== before.lastSeenAt) this.#answeredAt.set(routerId, this.#clock.monotonic());
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
    this.#told.delete(routerId);
  }

  /** True when the router itself answers, as far as is known now. */
  isAnswering(routerId: string): boolean {
    const until = this.answersUntil(routerId);
    return until !== undefined && this.#clock.monotonic() <= until;
  }

  /** Until when the router counts as answering if nothing more is heard of it, in monotonic time; undefined when it does not answer. */
  answersUntil(routerId: string): number | undefined {
    const answeredAt = this.#answeredAt.get(routerId);
    if (answeredAt === undefined || !this.get(routerId).reachable) return undefined;
    return answeredAt + this.#rules.offlineAfterMs + (this.#told.has(routerId) ? TOLD_LATE_MS : 0);
  }

  /** Uptime in seconds, extrapolated from the last heartbeat while the router answers. */
  uptimeSeconds(routerId: string): number | null {
    const { uptimeSeconds, lastSeenAt } = this.get(routerId);
    if (uptimeSeconds === null || lastSeenAt === null) return null;
    return this.isAnswering(routerId) ? uptimeSeconds + this.#silentForMs(routerId) / 1000 : uptimeSeconds;
  }

  #silentForMs(routerId: string): number {
    return this.#clock.monotonic() - (this.#answeredAt.get(routerId) ?? Number.NEGATIVE_INFINITY);
  }

  /** Converts a past wall time into monotonic time. */
  #elapsedAt(wallMs: number): number {
    return this.#clock.monotonic() - Math.max(0, this.#clock.now() - wallMs);
  }

  /**
   * The router was removed or replaced; its presence passes to its successor.
   * @param isHeardAs what was last heard of the successor was heard of its new hardware already
   */
  forget(routerId: string, successorId?: string, { isHeardAs = false } = {}): void {
    const last = this.#byRouter.get(routerId);
    const answeredAt = this.#answeredAt.get(routerId);
    this.#byRouter.delete(routerId);
    this.#answeredAt.delete(routerId);
    this.#changed.delete(routerId);
    this.#told.delete(routerId);
    if (successorId === undefined || isHeardAs) return;
    if (last) this.#byRouter.set(successorId, last);
    else this.#byRouter.delete(successorId);
    if (answeredAt === undefined) this.#answeredAt.delete(successorId);
    else this.#answeredAt.set(successorId, answeredAt);
    this.#changed.add(successorId);
  }

  /** The changes since the last call. If storing them fails, return the ids with {@link markChanged}. */
  takeChanged(): { routerId: string; presence: Presence }[] {
    const taken = [...this.#changed].map((routerId) => ({ routerId, presence: this.get(routerId) }));
    this.#changed.clear();
    return taken;
  }

  markChanged(routerIds: Iterable<string>): void {
    for (const id of routerIds) this.#changed.add(id);
  }
}
