import { LRUCache } from 'lru-cache';
import type { AuditService } from '../../../access/audit/service.ts';
import type { Clock } from '../../../platform/core/clock.ts';

type AuditedEntry = Parameters<AuditService['record']>[0];

/** A browser opens sixty connections for a page and a key hundreds a minute. The log of connections lists each of them. */
const ONCE_IN_MS = 60_000;
/** Entries kept in memory. An evicted entry can get a second row within its minute. */
const REMEMBERED = 10_000;

/** Audits WebSocket connections: one row per minute for each caller, address, forward and result. */
export class EntryRecorder {
  readonly #clock: Clock;
  readonly #report: (entry: AuditedEntry) => void;
  /** When each was last recorded. */
  readonly #recordedAt = new LRUCache<string, number>({ max: REMEMBERED });

  constructor(clock: Clock, report: (entry: AuditedEntry) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  record(entry: AuditedEntry): void {
    const now = this.#clock.now();
    const key = JSON.stringify([entry.actor_id, entry.team_id, entry.source, entry.target, entry.result]);
    const recordedAt = this.#recordedAt.get(key);
    // When the clock was set back, a new minute starts.
    if (recordedAt !== undefined && now >= recordedAt && now - recordedAt < ONCE_IN_MS) return;
    this.#recordedAt.set(key, now);
    this.#report(entry);
  }
}
