import type { Clock } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import type { Page } from '../core/page.ts';
import type { Storage } from '../storage/db.ts';
import { insertAuditEntries, selectAuditEntries } from './store.ts';
import type { AuditEntry, AuditFilter, ListedAuditEntry } from './types.ts';

/** Entries waiting for the database; beyond this the oldest are dropped and the loss is logged. */
const MAX_WAITING = 10_000;

/** Every write of every team, stored right after its answer, together with whatever else is being committed. */
export class AuditService {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #log: Log;
  #waiting: AuditEntry[] = [];
  #storing: Promise<void> | undefined;

  constructor(deps: { storage: Storage; clock: Clock; log: Log }) {
    this.#storage = deps.storage;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  record(entry: Omit<AuditEntry, 'id' | 'at'>): void {
    const at = this.#clock.now();
    this.#waiting.push({ id: newId(at), at, ...entry });
    if (this.#waiting.length > MAX_WAITING) {
      this.#waiting.shift();
      this.#log.error({ count: 1 }, 'audit entry dropped: the database does not keep up');
    }
    this.#storing ??= this.#store();
  }

  /** Newest first, with everything that was recorded before this call. */
  async list(teamId: string, filter: AuditFilter, page: Page): Promise<ListedAuditEntry[]> {
    await this.#storing;
    return selectAuditEntries(this.#storage.db, teamId, filter, page);
  }

  /** Stores what is waiting. */
  async stop(): Promise<void> {
    await this.#storing;
  }

  /** Never rejects. */
  async #store(): Promise<void> {
    while (this.#waiting.length > 0) {
      const entries = this.#waiting.splice(0, 500);
      try {
        await insertAuditEntries(this.#storage, entries);
      } catch (error) {
        this.#log.error({ err: error, count: entries.length }, 'audit entries could not be stored');
      }
    }
    this.#storing = undefined;
  }
}
