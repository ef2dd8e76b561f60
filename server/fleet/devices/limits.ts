import type { Counters } from '../../platform/core/counters.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import * as store from './store.ts';
import type { SightedDevice } from './store.ts';
import type { DeviceScope } from './types.ts';

/** Twice the ARP table of the busiest access router (10,000 entries), to keep the devices of the day before. */
export const MAX_DEVICES_PER_ROUTER = 20_000;
/**
 * 20,000 routers with 50 devices each: about 1.4 GB of the database. A device with the sighting of one router and all indexes takes some
 * 1,400 bytes in SQLite, nearly half of it for searches. None of it is held in memory.
 */
export const MAX_DEVICES_PER_TEAM = 1_000_000;

/** Routers whose counts are cached; the others are counted again. */
const REMEMBERED = 50_000;

/** Limits how many devices a router and its team may add. Known devices are still updated when a limit is reached. */
export class DeviceLimits {
  readonly #counters: Counters | undefined;
  /** Counts by router and by team, read when first needed and then updated. */
  readonly #stored = new Map<string, number>();

  constructor(counters: Counters | undefined) {
    this.#counters = counters;
  }

  /** The devices of a report that may be stored: all known ones, and new ones up to the limit. */
  async admit(db: DbOrTx, scope: DeviceScope, sighted: readonly SightedDevice[]): Promise<readonly SightedDevice[]> {
    const ofRouter =
      MAX_DEVICES_PER_ROUTER - (await this.#count(scope.routerId, () => store.countSightings(db, scope.routerId, MAX_DEVICES_PER_ROUTER)));
    const ofTeam =
      MAX_DEVICES_PER_TEAM - (await this.#count(scope.teamId, () => store.countDevices(db, scope.teamId, MAX_DEVICES_PER_TEAM)));
    const room = Math.max(0, Math.min(ofRouter, ofTeam));
    if (sighted.length <= room) return sighted;
    const known = await store.selectKnownMacs(
      db,
      scope,
      sighted.map(({ mac }) => mac),
    );
    const added = sighted.filter(({ mac }) => !known.has(mac));
    if (added.length <= room) return sighted;
    this.#counters?.add(ofRouter <= ofTeam ? 'devices_per_router' : 'devices_per_team');
    return [...sighted.filter(({ mac }) => known.has(mac)), ...added.slice(0, room)];
  }

  /** Adds to the cached counts. */
  added({ routerId, teamId }: DeviceScope, count: number): void {
    for (const key of [routerId, teamId]) this.#stored.set(key, (this.#stored.get(key) ?? 0) + count);
  }

  /** Clears the cached counts after devices were deleted. */
  forget(): void {
    this.#stored.clear();
  }

  async #count(key: string, count: () => Promise<number>): Promise<number> {
    const known = this.#stored.get(key);
    if (known !== undefined) return known;
    if (this.#stored.size >= REMEMBERED) this.#stored.clear();
    const counted = await count();
    this.#stored.set(key, counted);
    return counted;
  }
}
