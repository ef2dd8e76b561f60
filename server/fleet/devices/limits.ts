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

/** Other limits and steps, for tests. */
export interface DeviceRules {
  /** Devices counted at a time. */
  step?: number;
  perRouter?: number;
  perTeam?: number;
}

/** Limits how many devices a router and its team may add. Known devices are still updated when a limit is reached. */
export class DeviceLimits {
  readonly #counters: Counters | undefined;
  readonly #step: number;
  readonly #perRouter: number;
  readonly #perTeam: number;
  /** Counts by router and by team, read when first needed and then updated. */
  readonly #stored = new Map<string, number>();
  /** How often the counts were cleared. */
  #forgotten = 0;
  /** Counts in progress by team: its agents report at the same time after a restart. */
  readonly #counting = new Map<string, Promise<number>>();

  constructor(
    counters: Counters | undefined,
    { step = STEP, perRouter = MAX_DEVICES_PER_ROUTER, perTeam = MAX_DEVICES_PER_TEAM }: DeviceRules = {},
  ) {
    this.#counters = counters;
    this.#step = step;
    this.#perRouter = perRouter;
    this.#perTeam = perTeam;
  }

  /**
   * Counts the devices of a team that was not counted yet, in small steps: a million of them take 0.2 s, which one transaction would keep from
   * everybody else on SQLite. Call it before the write.
   */
  async prepare(db: DbOrTx, teamId: string): Promise<void> {
    while (!this.#stored.has(teamId)) {
      const running = this.#counting.get(teamId);
      const counting = running ?? this.#count(teamId, () => this.#countInSteps(db, teamId)).finally(() => this.#counting.delete(teamId));
      this.#counting.set(teamId, counting);
      await counting;
    }
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
    const { routerId, teamId } = scope;
    const ofRouter = this.#perRouter - (await this.#count(routerId, () => store.countSightings(db, routerId, this.#perRouter)));
    const ofTeam = this.#perTeam - (await this.#count(teamId, () => store.countDevices(db, teamId, this.#perTeam)));
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

  /** Whether all devices of these first reports of routers of a team may be stored, if all of them are new. */
  async haveRoom(db: DbOrTx, teamId: string, reports: readonly { sighted: readonly SightedDevice[] }[]): Promise<boolean> {
    if (reports.some(({ sighted }) => sighted.length > this.#perRouter)) return false;
    const most = reports.reduce((sum, { sighted }) => sum + sighted.length, 0);
    return (await this.#count(teamId, () => store.countDevices(db, teamId, this.#perTeam))) + most <= this.#perTeam;
  }

  /** Adds to the cached counts. */
  added({ routerId, teamId }: DeviceScope, count: number): void {
    for (const key of [routerId, teamId]) {
      const known = this.#stored.get(key);
      // Forgotten meanwhile: the next report counts again.
      if (known !== undefined) this.#stored.set(key, known + count);
    }
  }

  /** Clears the cached counts after devices were deleted. What is being counted is counted again. */
  forget(): void {
    this.#forgotten += 1;
    this.#stored.clear();
  }

  async #count(key: string, count: () => Promise<number>): Promise<number> {
    const known = this.#stored.get(key);
    if (known !== undefined) return known;
    const since = this.#forgotten;
    const counted = await count();
    this.#remember(key, counted, since);
    return counted;
  }

  /** @param since value of {@link #forgotten} before it was counted */
  #remember(key: string, count: number, since: number): void {
    if (since !== this.#forgotten) return;
    if (this.#stored.size >= REMEMBERED) this.#stored.clear();
    this.#stored.set(key, count);
  }
}
