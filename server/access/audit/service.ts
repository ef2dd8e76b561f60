import type { Clock, Timer } from '../../platform/core/clock.ts';
import { dropFromLargest } from '../../platform/core/drop-from-largest.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Page } from '../../platform/core/page.ts';
import { sampledLog } from '../../platform/core/sampled-log.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { storeApart } from '../../platform/core/store-apart.ts';
import { deleteAuditEntries, insertAuditEntries, selectAuditEntries } from './store.ts';
import type { AuditEntry, AuditFilter, ListedAuditEntry } from './types.ts';

/** Entries waiting for the database; beyond this the oldest of the team that has most are dropped and the loss is logged. */
export const MAX_WAITING = 10_000;
/** Dropped at a time: going through all that wait takes a millisecond. */
const DROPPED_AT_ONCE = 100;
/** A year and a month: what auditors ask for, once a year. */
const KEPT_MS = 400 * 24 * 3600 * 1000;
/** Rows of one statement. */
const CHUNK = 500;
/**
 * How long entries are collected: a commit of its own after every command would hold the event loop for a disk flush
 * each time, about 0.4 ms. A process that is killed loses the entries of this long.
 */
const COLLECT_MS = 100;
/** When the database could not take them. */
const RETRY_MS = 5000;

/** Every write of every team. */
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

  /** Newest first, with everything that was recorded before this call. */
  async list(teamId: string, filter: AuditFilter, page: Page): Promise<ListedAuditEntry[]> {
    await this.#storeNow();
    return selectAuditEntries(this.#storage.db, teamId, filter, page);
  }

  /** Forgets entries older than {@link KEPT_MS}. */
  async sweep(): Promise<void> {
    const before = this.#clock.now() - KEPT_MS;
    while ((await deleteAuditEntries(this.#storage, before, CHUNK)) === CHUNK);
  }

  /** Stores what is waiting. */
  async stop(): Promise<void> {
    await this.#storeNow();
    this.#timer?.cancel();
  }

  /** A team that writes more than the database takes loses entries of its own, not those of others. */
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

  /** Never rejects. What an overloaded or full database refuses is kept; what it can never take is left out. */
  async #store(): Promise<void> {
    while (this.#waiting.length > 0) {
      const entries = this.#waiting.splice(0, CHUNK);
      const { refused, left, error } = await storeApart(entries, (part) => insertAuditEntries(this.#storage, part));
      for (const { row, error: reason } of refused) {
        this.#log.error({ err: reason, team_id: row.team_id }, 'the database can never take an audit entry; it is left out');
      }
      this.#counters?.refuseRows('audit', refused.length);
      if (left.length === 0) continue;
      this.#log.error({ err: error, count: left.length }, 'audit entries could not be stored; they wait');
      this.#waiting.unshift(...left);
      this.#storeIn(RETRY_MS);
      return;
    }
  }
}
