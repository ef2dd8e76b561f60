import { setImmediate } from 'node:timers/promises';
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

/** Devices counted in one step: about a millisecond. */
const STEP = 5000;

/** Limits how many devices a router and its team may add. Known devices are still updated when a limit is reached. */
export class DeviceLimits {
  readonly #counters: Counters | undefined;
  readonly #step: number;
  /** Counts by router and by team, read when first needed and then updated. */
  readonly #stored = new Map<string, number>();
  /** Counts in progress by team: its agents report at the same time after a restart. */
  readonly #counting = new Map<string, Promise<number>>();

  /** @param step devices counted at a time; fewer in tests */
  constructor(counters: Counters | undefined, step = STEP) {
    this.#counters = counters;
    this.#step = step;
  }

  /**
   * Counts the devices of a team that was not counted yet, in small steps: a million of them take 0.2 s, which one transaction would keep from
   * everybody else on SQLite. Call it before the write.
   */
  async prepare(db: DbOrTx, teamId: string): Promise<void> {
    if (this.#stored.has(teamId)) return;
    const counting = this.#counting.get(teamId) ?? this.#countInSteps(db, teamId).finally(() => this.#counting.delete(teamId));
    this.#counting.set(teamId, counting);
    const count = await counting;
    if (!this.#stored.has(teamId)) this.#remember(teamId, count);
  }

  async #countInSteps(db: DbOrTx, teamId: string): Promise<number> {
    let behind: store.DevicePosition | undefined;
    for (let count = 0; ; count += this.#step) {
      const next = await store.selectNthDevice(db, teamId, { behind, step: this.#step });
      if (!next) return count + (await store.countDevicesBehind(db, teamId, behind, this.#step));
      behind = next;
      await setImmediate();
    }
  }

  /** The devices of a report that may be stored: all known ones, and new ones up to the limit. */
  async admit(db: DbOrTx, scope: DeviceScope, sighted: readonly SightedDevice[]): Promise<readonly SightedDevice[]> {
    if (sighted.length === 0) return sighted;
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
    for (const key of [routerId, teamId]) {
      const known = this.#stored.get(key);
      // Forgotten meanwhile: the next report counts again.
      if (known !== undefined) this.#stored.set(key, known + count);
    }
  }

  /** Clears the cached counts after devices were deleted. */
  forget(): void {
    this.#stored.clear();
  }

  async #count(key: string, count: () => Promise<number>): Promise<number> {
    const known = this.#stored.get(key);
    if (known !== undefined) return known;
    const counted = await count();
    this.#remember(key, counted);
    return counted;
  }

  #remember(key: string, count: number): void {
    if (this.#stored.size >= REMEMBERED) this.#stored.clear();
    this.#stored.set(key, count);
  }
}
