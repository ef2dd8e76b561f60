import type { Claim, IdempotencyKeys, IdempotencyScope } from '../core/idempotency.ts';
import type { Db, Storage, Tx } from '../storage/db.ts';

/** How long an answer is replayed. */
const KEPT_MS = 24 * 3600 * 1000;
/** `status` of a request whose process ended before it answered. */
const INTERRUPTED = 0;
/** Beyond this, keys stay under way until the next start. */
const MAX_UNFINISHED = 100_000;
/** Rows of one statement of the sweep. */
const SWEEP_CHUNK = 500;

export class IdempotencyStore implements IdempotencyKeys {
  readonly #storage: Storage;
  readonly #now: () => number;
  /** Requests that are over although their row still says that they are under way: the database did not take their end. */
  readonly #unfinished = new Set<string>();

  constructor(storage: Storage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  /** Called once at start, before requests: whatever was under way has lost its process. */
  async markInterrupted(): Promise<void> {
    await this.#storage.db.updateTable('idempotency_keys').set({ status: INTERRUPTED }).where('status', 'is', null).execute();
  }

  async claim(scope: IdempotencyScope, fingerprint: string, resumable: boolean): Promise<Claim> {
    return this.#storage.writes.write(async (tx) => {
      const inserted = await tx
        .insertInto('idempotency_keys')
        .values({
          team_id: scope.teamId,
          scope: scope.scope,
          key: scope.key,
          fingerprint,
          created_at: this.#now(),
          status: null,
          response: null,
        })
        .onConflict((conflict) => conflict.columns(['team_id', 'scope', 'key']).doNothing())
        .returning('key')
        .executeTakeFirst();
      if (inserted) return { state: 'claimed' };
      return this.#repeat(tx, scope, fingerprint, resumable);
    });
  }

  async #repeat(db: Db, scope: IdempotencyScope, fingerprint: string, resumable: boolean): Promise<Claim> {
    const first = await selectKey(db, scope).select(['fingerprint', 'status', 'response']).executeTakeFirst();
    // Released between the insert and this look: the next repeat finds it free.
    if (!first) return { state: 'running' };
    if (first.fingerprint !== fingerprint) return { state: 'other_payload' };
    const isInterrupted = first.status === INTERRUPTED || (first.status === null && this.#unfinished.has(nameOf(scope)));
    if (first.status === null && !isInterrupted) return { state: 'running' };
    if (!isInterrupted) return { state: 'finished', status: first.status ?? 0, response: first.response ?? '' };
    if (!resumable) return { state: 'interrupted' };
    return (await this.#takeOver(db, scope, first.status)) ? { state: 'claimed' } : { state: 'running' };
  }

  /** One statement, so that of two repeats only one goes on, on both engines. */
  async #takeOver(db: Db, scope: IdempotencyScope, status: number | null): Promise<boolean> {
    if (status === null) return this.#unfinished.delete(nameOf(scope));
    const taken = await whereKey(db.updateTable('idempotency_keys').set({ status: null }), scope)
      .where('status', '=', INTERRUPTED)
      .returning('key')
      .executeTakeFirst();
    return taken !== undefined;
  }

  async finish(scope: IdempotencyScope, status: number, response: string): Promise<void> {
    await this.#settle(scope, async (tx) => {
      await whereKey(tx.updateTable('idempotency_keys').set({ status, response }), scope).execute();
    });
  }

  async release(scope: IdempotencyScope): Promise<void> {
    await this.#settle(scope, async (tx) => {
      await whereKey(tx.deleteFrom('idempotency_keys'), scope).execute();
    });
  }

  /** What cannot be stored now is remembered as interrupted: the request is over, whatever the row says. */
  async #settle(scope: IdempotencyScope, work: (tx: Tx) => Promise<void>): Promise<void> {
    try {
      await this.#storage.writes.write(work);
    } catch (error) {
      if (this.#unfinished.size < MAX_UNFINISHED) this.#unfinished.add(nameOf(scope));
      throw error;
    }
  }

  /** Forgets answers older than a day. */
  async sweep(): Promise<void> {
    const before = this.#now() - KEPT_MS;
    for (;;) {
      const old = await this.#storage.db
        .selectFrom('idempotency_keys')
        .select(['team_id', 'scope', 'key'])
        .where('created_at', '<', before)
        .limit(SWEEP_CHUNK)
        .execute();
      if (old.length === 0) return;
      await this.#storage.writes.write(async (tx) => {
        for (const row of old) {
          await whereKey(tx.deleteFrom('idempotency_keys'), { teamId: row.team_id, scope: row.scope, key: row.key }).execute();
        }
      });
    }
  }
}

function nameOf({ teamId, scope, key }: IdempotencyScope): string {
  return JSON.stringify([teamId, scope, key]);
}

function selectKey(db: Db, scope: IdempotencyScope) {
  return whereKey(db.selectFrom('idempotency_keys'), scope);
}

interface Filterable<Q> {
  where(column: 'team_id' | 'scope' | 'key', operator: '=', value: string): Q;
}

function whereKey<Q extends Filterable<Q>>(query: Q, scope: IdempotencyScope): Q {
  return query.where('team_id', '=', scope.teamId).where('scope', '=', scope.scope).where('key', '=', scope.key);
}
