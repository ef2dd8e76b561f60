import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { deleteBeyond, KEPT_TABLES, selectNth, selectTeamIds } from './store.ts';
import type { KeptTable, Cursor } from './store.ts';

/**
 * Most records of one team, on top of the time limit of each feature: a team that creates records at the highest rate would fill the
 * disk before it. About 500 bytes each with their indexes; a campaign has up to 20,000 routers, some 3 MB.
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
/** Rows per delete. */
const CHUNK = 500;
/** Team ids per read. */
const TEAMS_AT_ONCE = 200;

/** Deletes the oldest records of teams that exceed the limits. */
export class RetentionService {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #counters: Counters | undefined;
  readonly #kept: Readonly<Record<KeptTable, number>>;

  constructor(deps: { storage: Storage; clock: Clock; counters?: Counters | undefined; kept?: Readonly<Record<KeptTable, number>> }) {
    this.#storage = deps.storage;
    this.#clock = deps.clock;
    this.#counters = deps.counters;
    this.#kept = deps.kept ?? KEPT_PER_TEAM;
  }

  /** In small steps, which leave the event loop and the database to others in between. */
  async sweep(): Promise<void> {
    let teams: string[];
    let after = '';
    do {
      teams = await selectTeamIds(this.#storage.db, after, TEAMS_AT_ONCE);
      for (const teamId of teams) for (const table of TABLES) await this.#sweepTable(teamId, table);
      after = teams.at(-1) ?? after;
    } while (teams.length === TEAMS_AT_ONCE);
  }

  async #sweepTable(teamId: string, table: KeptTable): Promise<void> {
    const beyond = await this.#lastKept(teamId, table);
    if (!beyond) return;
    for (let forgotten = CHUNK; forgotten === CHUNK;) {
      forgotten = await this.#storage.writes.write((tx) =>
        deleteBeyond(tx, table, { teamId, beyond, limit: CHUNK, now: this.#clock.now() }),
      );
      if (forgotten > 0) this.#counters?.add('kept_records_per_team');
      await setImmediate();
    }
  }

  /** The oldest record to keep; undefined below the limit. */
  async #lastKept(teamId: string, table: KeptTable): Promise<Cursor | undefined> {
    let cursor: Cursor | undefined;
    for (let left = this.#kept[table]; left > 0; left -= STEP) {
      cursor = await selectNth(this.#storage.db, table, { teamId, after: cursor, count: Math.min(left, STEP), now: this.#clock.now() });
      if (!cursor) return undefined;
      await setImmediate();
    }
    return cursor;
  }
}
