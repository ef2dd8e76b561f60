import type { Clock } from '../../../platform/core/clock.ts';
import { deleteNoticesBefore } from '../../../platform/notices/store.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import { deleteBucketsBefore } from '../messages/buckets/store.ts';
import { deleteThreadsBefore } from '../threads/telling/store.ts';

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
    await this.#drain((tx) => deleteNoticesBefore(tx, before, AT_ONCE));
    // Its messages go with a thread.
    await this.#drain((tx) => deleteThreadsBefore(tx, before, AT_ONCE));
    await this.#storage.writes.write((tx) => deleteBucketsBefore(tx, before));
  }

  async #drain(step: (tx: Tx) => Promise<number>): Promise<void> {
    for (let count = AT_ONCE; count === AT_ONCE;) count = await this.#storage.writes.write(step);
  }
}
