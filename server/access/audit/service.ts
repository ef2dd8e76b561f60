import type { Clock, Timer } from '../../platform/core/clock.ts';
import { dropFromLargest } from '../../platform/core/drop-from-largest.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Page } from '../../platform/core/page.ts';
import { sampledLog } from '../../platform/core/sampled-log.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { storeApart } from '../../platform/core/store-apart.ts';
import { insertAuditEntries, selectAuditEntries } from './store.ts';
import type { AuditEntry, AuditFilter, ListedAuditEntry } from './types.ts';

/** Entries waiting for the database. Beyond this, the oldest entries of the team with the most are dropped and the loss is logged. */
export const MAX_WAITING = 10_000;
/** Entries dropped at a time: one pass over all queued entries takes a millisecond. */
const DROPPED_AT_ONCE = 100;
/** Rows per statement. */
const CHUNK = 500;
/**
 * How long entries are collected. A commit after every command would block the event loop for a disk flush
 * of about 0.4 ms each time. A process that is killed loses the entries of this interval.
 */
const COLLECT_MS = 100;
/** Delay before the next try after a failed write. */
const RETRY_MS = 5000;

/** Records every write of every team. operations/retention deletes old entries. */
export class AuditService {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #counters: Counters | undefined;
  #waiting: AuditEntry[] = [];
  #timer: Timer | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor(deps: { storage: Storage; clock: Clock; log: Log; counters?: Counters }) {
    this.#storage = deps.storage;
    this.#clock = deps.clock;
    this.#log = sampledLog(deps.log, deps.clock);
    this.#counters = deps.counters;
  }

  record(entry: Omit<AuditEntry, 'id' | 'at'>): void {
    const at = this.#clock.now();
    this.#waiting.push({ id: newId(at), at, ...entry });
    if (this.#waiting.length > MAX_WAITING) this.#makeRoom();
    this.#storeIn(COLLECT_MS);
  }

  /** Settles when what was recorded so far is stored, or could not be stored now. */
  stored(): Promise<void> {
    return this.#storeNow();
  }

  /** Newest first, including everything recorded before this call. */
  async list(teamId: string, filter: AuditFilter, page: Page): Promise<ListedAuditEntry[]> {
    await this.#storeNow();
    return selectAuditEntries(this.#storage, teamId, filter, page);
  }

  /** Stores the queued entries. */
  async stop(): Promise<void> {
    await this.#storeNow();
    this.#timer?.cancel();
  }

  /** A team that writes faster than the database loses its own entries, never those of other teams. */
  #makeRoom(): void {
    this.#waiting = dropFromLargest(this.#waiting, (entry) => entry.team_id, DROPPED_AT_ONCE);
    this.#log.error({ count: DROPPED_AT_ONCE }, 'audit entries dropped: the database does not keep up');
  }

  #storeIn(ms: number): void {
    this.#timer ??= this.#clock.setTimeout(() => void this.#storeNow(), ms);
  }

  #storeNow(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#storing = this.#storing.then(() => this.#store());
    return this.#storing;
  }

  /** Never rejects. Entries that an overloaded or full database refuses are kept; entries that it can never store are dropped. */
  async #store(): Promise<void> {
    while (this.#waiting.length > 0) {
      const entries = this.#waiting.splice(0, CHUNK);
      const { refused, left, error } = await storeApart(entries, (part) => insertAuditEntries(this.#storage, part));
      for (const { row, error: reason } of refused) {
        this.#log.error({ err: reason, team_id: row.team_id }, 'the database rejects an audit entry; it is dropped');
      }
      this.#counters?.refuseRows('audit', refused.length);
      if (left.length === 0) continue;
      this.#log.error({ err: error, count: left.length }, 'audit entries could not be stored; trying again');
      this.#waiting.unshift(...left);
      this.#storeIn(RETRY_MS);
      return;
    }
  }
}
