import { LRUCache } from 'lru-cache';
import { newSecret } from '../../platform/core/ids.ts';
import type { EventHistory, HistoryFollower, Missed } from './history.ts';
import { EventRing } from './ring.ts';
import type { EventType, KeptStream } from './types.ts';

/** Events stored at a stop: about 15 MB, and a second of work. The most recently active teams come first. */
const KEPT_EVENTS = 50_000;
/** Teams whose latest events are kept. The team that was idle longest is dropped first: its readers then resync. */
export const REMEMBERED_TEAMS = 1000;
const ORIGIN_CHARS = 8;

/** The events of a control plane that serves its database alone. Every event has its place at once. */
export class OwnHistory implements EventHistory {
  readonly #rings = new LRUCache<string, EventRing>({ max: REMEMBERED_TEAMS });
  readonly #remembered: number;
  #follower: HistoryFollower | undefined;

  /** @param remembered events of each team that can be repeated, at least */
  constructor(remembered: number) {
    this.#remembered = remembered;
  }

  follow(follower: HistoryFollower): void {
    this.#follower = follower;
  }

  /** Continues where a previous process stopped. */
  restore(streams: readonly KeptStream[]): void {
    // The most recently used team comes first and must be dropped last.
    for (const { teamId, origin, ...past } of streams.toReversed()) this.#rings.set(teamId, new EventRing(origin, this.#remembered, past));
  }

  /** What is to be stored at a stop, after the last event. */
  get kept(): Omit<KeptStream, 'online'>[] {
    const streams: Omit<KeptStream, 'online'>[] = [];
    let room = KEPT_EVENTS;
    for (const [teamId, ring] of this.#rings.entries()) {
      const { kept } = ring;
      room -= kept.entries.length;
      if (room >= 0) streams.push({ teamId, ...kept });
    }
    return streams;
  }

  add(teamId: string, type: EventType, data: string): void {
    this.#follower?.onEntry(teamId, this.#ringOf(teamId).add(type, data), data, false);
  }

  position(teamId: string): string {
    return this.#ringOf(teamId).position;
  }

  idOf(teamId: string): string {
    return this.position(teamId);
  }

  after(teamId: string, id: string): Missed | undefined {
    const entries = this.#ringOf(teamId).after(id);
    // Whatever comes is new.
    return entries && { entries, upTo: 0 };
  }

  forget(): void {
    this.#rings.clear();
  }

  #ringOf(teamId: string): EventRing {
    let ring = this.#rings.get(teamId);
    if (!ring) {
      ring = new EventRing(newSecret(ORIGIN_CHARS), this.#remembered);
      this.#rings.set(teamId, ring);
    }
    return ring;
  }
}
