import { FairShares } from '../../../../runtime/fair-shares.ts';
import type { Holder, ShareLimits } from '../../../../runtime/fair-shares.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { nextTurn } from '../../../platform/core/loop-turns.ts';
import type { Page } from '../../../platform/core/page.ts';
import { releaseAdmissionSlot } from '../../../platform/core/admission-slot.ts';
import type { Db } from '../../../platform/storage/db.ts';
import type { DeviceFilter } from '../types.ts';
import { endOfStep, selectDevices } from './store.ts';
import type { DeviceRow } from './store.ts';

/**
 * A search of a million devices takes some three seconds in all. Searches of one team share the turns of their team, so more at once only
 * make each of them slower.
 */
export const SEARCHES_AT_ONCE: ShareLimits = { total: 128, perParty: 16, perMember: 4 };
const RETRY_AFTER_MS = 2000;

/** Devices that one step of a search reads: some 10 ms on SQLite, which does nothing else meanwhile. */
const STEP_DEVICES = 2000;

/** Searches under way. */
export class DeviceSearches {
  readonly shares = new FairShares(SEARCHES_AT_ONCE);

  /** @throws AppError `rate_limited`, `unavailable`, and what the work throws */
  async run<T>(holder: Holder, work: () => Promise<T>): Promise<T> {
    const limit = this.shares.limitFor(holder);
    if (!this.shares.take(holder)) {
      const options = { retryAfterMs: RETRY_AFTER_MS };
      if (limit === 'total') throw new AppError('unavailable', 'too many searches for devices are under way', options);
      throw new AppError('rate_limited', 'too many searches for devices of your team are under way; try again when one has ended', options);
    }
    // It takes a turn of the loop for each step, so it does not count as work that was begun at once.
    releaseAdmissionSlot();
    try {
      return await work();
    } finally {
      this.shares.giveBack(holder);
    }
  }
}

/** No index finds a part of a text: the devices of the team are read in steps, newest first, until the page is full. */
export async function findDevices(
  db: Db,
  teamId: string,
  search: DeviceFilter & { macFragment?: string | undefined },
  page: Page,
): Promise<DeviceRow[]> {
  const found: DeviceRow[] = [];
  let { before } = page;
  for (;;) {
    const end = await endOfStep(db, teamId, before, STEP_DEVICES);
    found.push(...(await selectDevices(db, teamId, search, { before, limit: page.limit - found.length }, end)));
    if (end === undefined || found.length === page.limit) return found;
    before = end;
    await nextTurn();
  }
}
