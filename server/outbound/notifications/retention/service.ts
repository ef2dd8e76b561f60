import type { Clock } from '../../../platform/core/clock.ts';
import { deleteNoticesBefore } from '../../../platform/notices/store.ts';
import type { Storage } from '../../../platform/storage/db.ts';

/** Rows per statement, which blocks the database for a few milliseconds. */
const AT_ONCE = 500;

/** Deletes what is left of old notifications. */
export class NotificationRetention {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #keepMs: number;

  /** @param deps `keepMs`: milliseconds */
  constructor(deps: { storage: Storage; clock: Clock; keepMs: number }) {
    this.#storage = deps.storage;
    this.#clock = deps.clock;
    this.#keepMs = deps.keepMs;
  }

  /** @throws a storage error; the next sweep tries again */
  async sweep(): Promise<void> {
    const before = this.#clock.now() - this.#keepMs;
    for (let count = AT_ONCE; count === AT_ONCE;) {
      count = await this.#storage.writes.write((tx) => deleteNoticesBefore(tx, before, AT_ONCE));
    }
  }
}
