import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { removeInBatches } from '../../platform/core/removal-batches.ts';
import { TokenBucket } from '../../platform/core/token-bucket.ts';
import type { Rate } from '../../platform/core/token-bucket.ts';
import { RecordWriter } from '../../platform/core/record-writer.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { WatchRights } from '../agents/service.ts';
import { deleteStates, upsertStates } from './store.ts';
import type { StateRow } from './types.ts';

/** States that wait while the database is unavailable: 20,000 routers that change twice; 400 bytes each. */
const MOST_WAITING = 80_000;
/**
 * New rows of one router. Agents report every 30 s: a router that changes with each report gets a row each time. Without a limit, one hostile
 * agent had 2,600 a second stored, 4 GB an hour.
 */
export const NEW_STATES: Rate = { burst: 120, perSecond: 1 / 30 };

/** The id of states that are not stored. */
const ASSUMED = '';

interface Deps {
  storage: Storage;
  clock: Clock;
  log: Log;
  counters?: Counters | undefined;
  keepMs: number;
  /** Where several control planes serve the database: of which routers this one may store states. */
  rights?: WatchRights | undefined;
}

interface Beginning extends Pick<StateRow, 'state' | 'reason' | 'since'> {
  teamId: string;
  routerId: string;
}

/**
 * The states that routers were in. Rows are written from memory every few seconds. A router that changes all the time gets a new row now and
 * then: until the next one, its last row goes on and has its latest state.
 */
export class StateHistory {
  /** Routers whose states were stored. */
  readonly storedOf = new Listeners<readonly string[]>();
  /** Routers whose states were not stored, because another control plane writes them. */
  readonly refusedOf = new Listeners<readonly string[]>();
  readonly #deps: Deps;
  readonly #budgets = new Map<string, TokenBucket>();
  /** When the stored row began, of rows that went on with another state since; by id. */
  readonly #begun = new Map<string, number>();
  readonly #writer: RecordWriter<StateRow>;

  constructor(deps: Deps) {
    this.#deps = deps;
    const { storage, clock, log, counters } = deps;
    this.#writer = new RecordWriter({
      clock,
      log,
      counters,
      upsert: deps.rights ? (rows) => this.#upsertOwn(rows, deps.rights!) : (rows) => storage.writes.write((tx) => upsertStates(tx, rows)),
      most: MOST_WAITING,
      partyOf: (row) => row.team_id,
      kind: 'states',
    });
  }

  async #upsertOwn(rows: readonly StateRow[], rights: WatchRights): Promise<void> {
    const own = await this.#deps.storage.writes.write(async (tx) => {
      const routerIds = await rights.ofRouters(
        tx,
        rows.map(({ router_id: routerId }) => routerId),
      );
      const some = rows.filter(({ router_id: routerId }) => routerIds.has(routerId));
      if (some.length > 0) await upsertStates(tx, some);
      return routerIds;
    });
    const ids = new Set(rows.map(({ router_id: routerId }) => routerId));
    const refused = [...ids].filter((id) => !own.has(id));
    if (own.size > 0) this.storedOf.publish([...own]);
    if (refused.length > 0) this.refusedOf.publish(refused);
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

  /** A state that is shown until the stored one is known, and is never stored itself. */
  assume({ teamId, routerId, state, reason, since }: Beginning): StateRow {
    return { id: ASSUMED, team_id: teamId, router_id: routerId, state, reason, since, until: null };
  }

  /** Begins a new state of a router. A silence is detected late, so it never begins before the state that it ends. */
  begin({ teamId, routerId, state, reason, since }: Beginning, before?: StateRow): StateRow {
    const from = before ? Math.max(before.since, since) : since;
    const isNew = this.#mayBegin(routerId);
    if (before && !isNew) {
      if (!this.#begun.has(before.id)) this.#begun.set(before.id, before.since);
      return this.#put({ ...before, state, reason, since: from });
    }
    if (before) this.end(before, from);
    return this.#put({ id: newId(this.#deps.clock.now()), team_id: teamId, router_id: routerId, state, reason, since: from, until: null });
  }

  change(row: StateRow, change: Partial<Pick<StateRow, 'reason' | 'since'>>): StateRow {
    const begun = this.#begun.get(row.id);
    if (begun !== undefined && change.since !== undefined) this.#begun.set(row.id, begun + change.since - row.since);
    return this.#put({ ...row, ...change });
  }

  end(row: StateRow, until: number): void {
    this.#put({ ...row, until: Math.max(row.since, until) });
    this.#begun.delete(row.id);
  }

  /** The router was removed. */
  forget(routerId: string): void {
    this.#budgets.delete(routerId);
  }

  /** @returns the row as it is now, which is not how it is stored if its state has changed too often */
  #put(row: StateRow): StateRow {
    if (row.id !== ASSUMED) this.#writer.put({ ...row, since: this.#begun.get(row.id) ?? row.since });
    return row;
  }

  #mayBegin(routerId: string): boolean {
    const now = this.#deps.clock.monotonic();
    const budget = this.#budgets.get(routerId) ?? new TokenBucket(NEW_STATES, now);
    this.#budgets.set(routerId, budget);
    if (budget.waitMs(now) > 0) return false;
    budget.take(1, now);
    return true;
  }

  /** Deletes states that ended long ago. */
  async sweep(signal?: AbortSignal): Promise<void> {
    const { storage, clock, keepMs } = this.#deps;
    const before = clock.now() - keepMs;
    await removeInBatches(storage, (tx, limit) => deleteStates(tx, before, limit), { signal });
  }
}
