import type { Clock } from '../../../platform/core/clock.ts';
import { deleteNoticesBefore } from '../../../platform/notices/store.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { NEVER, removeInBatches } from '../../../platform/core/removal-batches.ts';
import { deleteBucketsBefore } from '../messages/buckets/store.ts';
import { removeDeletedGroups, removeThreads, selectThreadsBefore, selectThreadsOfDeleted } from './store.ts';

/** Threads that are found, and then deleted, at a time. */
const AT_ONCE = 100;

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
  async sweep(signal: AbortSignal = NEVER): Promise<void> {
    const before = this.#clock.now() - this.#keepMs;
    await removeInBatches(this.#storage, (tx, limit) => deleteNoticesBefore(tx, before, limit), { signal });
    await this.#removeThreads((limit) => selectThreadsBefore(this.#storage.db, before, limit), signal);
    await this.#removeThreads((limit) => selectThreadsOfDeleted(this.#storage.db, before, limit), signal);
    await removeInBatches(this.#storage, (tx, limit) => removeDeletedGroups(tx, before, limit), { signal });
    await removeInBatches(this.#storage, (tx, limit) => deleteBucketsBefore(tx, before, limit), { signal });
  }

  async #removeThreads(select: (limit: number) => Promise<string[]>, signal: AbortSignal): Promise<void> {
    for (let count = AT_ONCE; count === AT_ONCE && !signal.aborted;) {
      const ids = await select(AT_ONCE);
      await removeThreads(this.#storage, ids, signal);
      count = ids.length;
    }
  }
}
