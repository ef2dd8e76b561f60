import type { Claim, IdempotencyKeys, IdempotencyScope } from '../core/idempotency.ts';
import type { Db, Storage } from '../storage/db.ts';

/** How long an answer is replayed. */
const KEPT_MS = 24 * 3600 * 1000;
/** `status` of a request whose process ended before it answered. */
const INTERRUPTED = 0;

export class IdempotencyStore implements IdempotencyKeys {
  readonly #storage: Storage;
  readonly #now: () => number;

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
    const first = await selectKey(db, scope)
      .select(['fingerprint', 'status', 'response'])
      .executeTakeFirstOrThrow();
    if (first.fingerprint !== fingerprint) return { state: 'other_payload' };
    if (first.status === null) return { state: 'running' };
    if (first.status !== INTERRUPTED) return { state: 'finished', status: first.status, response: first.response ?? '' };
    if (!resumable) return { state: 'interrupted' };
    // Taken over in the same transaction, so that of two repeats only one goes on.
    await whereKey(db.updateTable('idempotency_keys').set({ status: null }), scope).execute();
    return { state: 'claimed' };
  }

  async finish(scope: IdempotencyScope, status: number, response: string): Promise<void> {
    await this.#storage.writes.write(async (tx) => {
      await whereKey(tx.updateTable('idempotency_keys').set({ status, response }), scope).execute();
    });
  }

  async release(scope: IdempotencyScope): Promise<void> {
    await this.#storage.writes.write(async (tx) => {
      await whereKey(tx.deleteFrom('idempotency_keys'), scope).execute();
    });
  }

  /** Forgets answers older than a day. */
  async sweep(): Promise<void> {
    await this.#storage.db.deleteFrom('idempotency_keys').where('created_at', '<', this.#now() - KEPT_MS).execute();
  }
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
