import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { RecordWriter } from '../../platform/core/record-writer.ts';
import { deleteStates, upsertStates } from './store.ts';
import type { StateRow } from './types.ts';

/** States that wait while the database is unavailable: 20,000 routers that change twice; 400 bytes each. */
const MOST_WAITING = 80_000;
/** Rows in one delete. */
const CHUNK = 500;

interface Deps {
  storage: Storage;
  clock: Clock;
  log: Log;
  counters?: Counters | undefined;
  keepMs: number;
}

interface Beginning extends Pick<StateRow, 'state' | 'reason' | 'since'> {
  teamId: string;
  routerId: string;
}

/** The states that routers were in. Rows are written from memory every few seconds. */
export class StateHistory {
  readonly #deps: Deps;
  readonly #writer: RecordWriter<StateRow>;

  constructor(deps: Deps) {
    this.#deps = deps;
    const { storage, clock, log, counters } = deps;
    this.#writer = new RecordWriter({
      clock,
      log,
      counters,
      upsert: (rows) => storage.writes.write((tx) => upsertStates(tx, rows)),
      most: MOST_WAITING,
      kind: 'states',
    });
  }

  start(): void {
    this.#writer.start();
  }

  stop(): Promise<void> {
    return this.#writer.stop();
  }

  /** Resolves when all present changes are stored, or could not be stored now. */
  stored(): Promise<void> {
    return this.#writer.flush();
  }

  /** Begins a new state of a router. A silence is detected late, so it never begins before the state that it ends. */
  begin({ teamId, routerId, state, reason, since }: Beginning, before?: StateRow): StateRow {
    const from = before ? Math.max(before.since, since) : since;
    if (before) this.end(before, from);
    const row = { id: newId(this.#deps.clock.now()), team_id: teamId, router_id: routerId, state, reason, since: from, until: null };
    this.#writer.put(row);
    return row;
  }

  change(row: StateRow, change: Partial<Pick<StateRow, 'reason' | 'since'>>): StateRow {
    const next = { ...row, ...change };
    this.#writer.put(next);
    return next;
  }

  end(row: StateRow, until: number): void {
    this.#writer.put({ ...row, until: Math.max(row.since, until) });
  }

  /** Deletes states that ended long ago. */
  async sweep(): Promise<void> {
    const { storage, clock, keepMs } = this.#deps;
    const before = clock.now() - keepMs;
    for (let deleted = CHUNK; deleted === CHUNK;) deleted = await storage.writes.write((tx) => deleteStates(tx, before, CHUNK));
  }
}
