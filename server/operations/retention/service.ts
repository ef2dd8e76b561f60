import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { NEVER } from '../../platform/core/removal-batches.ts';
import { KEPT_TABLES, keptOf, mayGo, removeRecords, selectAged, selectBeyond, selectNth, selectTeamIds } from './store.ts';
import type { AgedTable, Cursor, KeptTable } from './store.ts';

/**
 * Most records of one team, on top of the time that each kind is kept: a team that creates records at the highest rate would fill the
 * disk before it. docs/retention.md has the bytes of each.
 */
export const KEPT_PER_TEAM: Readonly<Record<KeptTable, number>> = {
  // Two months of a key that writes 60 times a minute without pause.
  audit_log: 5_000_000,
  // A hundred for each of 20,000 routers.
  faults: 2_000_000,
  // Years of an operator with a hundred support cases a day.
  forwards: 100_000,
  // Ten a day for thirty years.
  terminals: 100_000,
  campaigns: 1000,
  revocations: 50_000,
  invitations: 10_000,
  enrol_tokens: 50_000,
  api_keys: 10_000,
  agents: 20_000,
  // A hundred for each of 20,000 agents; an agent that connects once a second, without pause, fills it in three weeks.
  agent_sessions: 2_000_000,
  // A router whose fault comes and goes every ten seconds makes 17,000 a day; what comes and goes is one thread.
  notices: 500_000,
  // As notices; some 500 MB.
  threads: 500_000,
  // Ten people for each of 100,000 threads: some 1.2 GB, for there is an index for each filter of the log.
  messages: 1_000_000,
  // Two hundred for each of 20,000 routers.
  router_state_changes: 4_000_000,
};

const TABLES = Object.keys(KEPT_TABLES) as KeptTable[];
/** Index entries read in one step: about a millisecond. */
const STEP = 2000;
/** Records that are found, and then deleted, at a time. */
const CHUNK = 500;
/** Team ids per read. */
const TEAMS_AT_ONCE = 200;

export interface RetentionDeps {
  storage: Storage;
  clock: Clock;
  counters?: Counters | undefined;
  /** How long records are kept after their end, milliseconds. */
  keepMs: Readonly<Record<AgedTable, number>>;
  /** For tests. */
  kept?: Readonly<Record<KeptTable, number>>;
}

/** Deletes records that are old, and the oldest records of teams that exceed the limits. */
export class RetentionService {
  readonly #deps: RetentionDeps;
  readonly #kept: Readonly<Record<KeptTable, number>>;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
    this.#kept = deps.kept ?? KEPT_PER_TEAM;
  }

  /** In small steps, which leave the event loop and the database to others in between. @throws a storage error; the next sweep continues */
  async sweep(signal: AbortSignal = NEVER): Promise<void> {
    for (const [table, keepMs] of Object.entries(this.#deps.keepMs) as [AgedTable, number][]) await this.#sweepAged(table, keepMs, signal);
    const { db } = this.#deps.storage;
    let teams: string[];
    let after = '';
    do {
      teams = await selectTeamIds(db, after, TEAMS_AT_ONCE);
      for (const teamId of teams)
        for (const table of TABLES) {
          if (signal.aborted) return;
          await this.#sweepTable(teamId, table, signal);
        }
      after = teams.at(-1) ?? after;
    } while (teams.length === TEAMS_AT_ONCE);
  }

  async #sweepAged(table: AgedTable, keepMs: number, signal: AbortSignal): Promise<void> {
    const { storage, clock } = this.#deps;
    const before = clock.now() - keepMs;
    for (let after: string | undefined = ''; after !== undefined && !signal.aborted;) {
      const ids: string[] = await selectAged(storage.db, table, { before, after, limit: CHUNK, now: clock.now() });
      await this.#remove(table, ids, signal);
      after = ids.length < CHUNK ? undefined : ids.at(-1);
    }
  }

  async #sweepTable(teamId: string, table: KeptTable, signal: AbortSignal): Promise<void> {
    const { storage, clock, counters } = this.#deps;
    const beyond = await this.#lastKept(teamId, table);
    if (!beyond) return;
    for (let count = CHUNK; count === CHUNK && !signal.aborted;) {
      const ids = await selectBeyond(storage.db, table, { teamId, beyond, limit: CHUNK, now: clock.now() });
      await this.#remove(table, ids, signal);
      if (ids.length > 0) counters?.add('kept_records_per_team');
      count = ids.length;
    }
  }

  async #remove(table: KeptTable, ids: readonly string[], signal: AbortSignal): Promise<void> {
    if (ids.length === 0) return;
    const { children = [] } = keptOf(table);
    await removeRecords(this.#deps.storage, { table, ids, children, isStill: mayGo(table, this.#deps.clock.now()) }, { signal });
  }

  /** The oldest record to keep; undefined below the limit. */
  async #lastKept(teamId: string, table: KeptTable): Promise<Cursor | undefined> {
    const { storage, clock } = this.#deps;
    let cursor: Cursor | undefined;
    for (let left = this.#kept[table]; left > 0; left -= STEP) {
      cursor = await selectNth(storage.db, table, { teamId, after: cursor, count: Math.min(left, STEP), now: clock.now() });
      if (!cursor) return undefined;
      await setImmediate();
    }
    return cursor;
  }
}
