import { LRUCache } from 'lru-cache';
import type { AuditService } from '../../../access/audit/service.ts';
import type { Clock } from '../../../platform/core/clock.ts';

type AuditedEntry = Parameters<AuditService['record']>[0];

/** A page of a browser opens sixty connections, a key may open hundreds a minute: the log of connections has each of them. */
const ONCE_IN_MS = 60_000;
/** Entries that are remembered; of one that was forgotten there is one more row. */
const REMEMBERED = 10_000;

/** Tells the audit log who came in by the WebSocket door: the first of a minute of each caller, address, forward and result. */
export class EntryRecorder {
  readonly #clock: Clock;
  readonly #report: (entry: AuditedEntry) => void;
  /** When each was told. */
  readonly #told = new LRUCache<string, number>({ max: REMEMBERED });

  constructor(clock: Clock, report: (entry: AuditedEntry) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  record(entry: AuditedEntry): void {
    const now = this.#clock.now();
    const key = JSON.stringify([entry.actor_id, entry.team_id, entry.source, entry.target, entry.result]);
    const told = this.#told.get(key);
    // A clock that was set back starts a new minute.
    if (told !== undefined && now >= told && now - told < ONCE_IN_MS) return;
    this.#told.set(key, now);
    this.#report(entry);
  }
}
