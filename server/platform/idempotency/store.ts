import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Counters } from '../core/counters.ts';
import { AppError, LostCommit } from '../core/errors.ts';
import type { Claim, HeldKey, IdempotencyKeys, IdempotencyScope } from '../core/idempotency.ts';
import type { Db, Storage, Tx } from '../storage/db.ts';
import type { Secrets } from '../storage/secrets.ts';
import { storageUnavailable } from '../storage/storage-errors.ts';
import { BYTES_OF_KEY, KeptAnswers, SHORT_ANSWER } from './kept-answers.ts';
import type { CallerSum } from './kept-answers.ts';

const PURPOSE = 'idempotency';
/** How long a response is replayed. */
const KEPT_MS = 24 * 3600 * 1000;
/** `status` of a request whose process ended before it answered. */
const INTERRUPTED = 0;
/** Results of requests that could not be stored: an outage of a minute at a thousand requests a second. */
const MAX_UNSETTLED = 60_000;
/** Total characters of their responses; one response has at most 256 K (http/idempotency.ts). */
const MAX_UNSETTLED_CHARS = 32 * 1024 * 1024;
/** Rows of one statement of the sweep. */
const SWEEP_CHUNK = 500;

/** The result of a request whose row still says that it is in progress. */
type End = { state: 'free' } | { state: 'finished'; status: number; response: string };

interface Unstored {
  held: HeldKey;
  end: End;
}

/** A row that says that its request is in progress. */
interface UnderWay {
  claim: string | null;
  nodeId: string | null;
}

/**
 * A key belongs to one request at a time, by its claim. Invariants:
 * - an active claim is in memory (`#held`) from before its row is written until the request has ended, so a repeat knows whether
 *   the first request still runs without relying on the row;
 * - for a claim of this process that has ended and whose end is not stored, either its result is in memory, or repeats learn that
 *   the result is unknown. It never counts as in progress: that would lock the key for a day;
 * - one conditional update transfers a key, so that only one of several repeats proceeds;
 * - where several control planes serve the database, a claim names its control plane. It is interrupted as soon as that one has no row in
 *   `nodes` any more, which a repeat looks up. Until then the key is in progress, wherever the repeat comes.
 */
export class IdempotencyStore implements IdempotencyKeys {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #secrets: Pick<Secrets, 'fingerprints'>;
  /** Prefix of every claim of this process. */
  readonly #process = randomUUID();
  #claims = 0;
  readonly #kept: KeptAnswers;
  readonly #held = new Set<string>();
  readonly #unstored = new LRUCache<string, Unstored>({
    max: MAX_UNSETTLED,
    maxSize: MAX_UNSETTLED_CHARS,
    sizeCalculation: ({ end }) => (end.state === 'finished' ? end.response.length : 0) + 1,
  });
  /** This control plane among several; null for one that serves the database alone. */
  readonly #nodeId: string | null;

  constructor(
    storage: Storage,
    secrets: Pick<Secrets, 'fingerprints'>,
    now: () => number,
    { counters, nodeId = null }: { counters?: Counters; nodeId?: string | null } = {},
  ) {
    this.#storage = storage;
    this.#secrets = secrets;
    this.#now = now;
    this.#nodeId = nodeId;
    this.#kept = new KeptAnswers(counters);
  }

  /** Call once at start, before requests: claims in progress belong to a process that has ended, unless their control plane still counts. */
  async markInterrupted(): Promise<void> {
    const interrupted = this.#storage.db.updateTable('idempotency_keys').set({ status: INTERRUPTED }).where('status', 'is', null);
    if (this.#nodeId === null) await interrupted.execute();
    else await interrupted.where(isOfDeadNode()).execute();
    await this.sumUp();
  }

  /**
   * Reads what is stored for whom. Beside other control planes, this one knows of their keys and of what they have deleted only from here,
   * so it is to be called now and then: in between, all together may store as many times the limit as there are control planes.
   */
  async sumUp(): Promise<void> {
    const response = sql`octet_length(response)`;
    const sums = await this.#storage.db
      .selectFrom('idempotency_keys')
      .select((eb) => [
        'team_id',
        'caller',
        eb.fn.countAll().as('keys'),
        octets(sql`sum(${response})`).as('bytes'),
        octets(sql`sum(case when ${response} > ${sql.lit(SHORT_ANSWER)} then ${response} else 0 end)`).as('long'),
      ])
      .groupBy(['team_id', 'caller'])
      .execute();
    this.#kept.replace(
      sums.map(({ team_id: teamId, caller, keys, bytes, long }): CallerSum => {
        return { teamId, caller: caller ?? '', all: Number(keys) * BYTES_OF_KEY + Number(bytes), long: Number(long) };
      }),
    );
  }

  /**
   * Stores results that the database did not take. Beside other control planes a repeat may come to one that does not have them in memory.
   * @throws when the database does not take one again
   */
  async storeUnstored(): Promise<void> {
    for (const { held, end } of this.#unstored.values()) {
      if (end.state === 'finished') await this.finish(held, end.status, end.response);
      else await this.release(held);
      this.#unstored.delete(held.claim);
    }
  }

  hasRoomFor(held: HeldKey, length: number): boolean {
    return this.#kept.hasRoomFor(held, length);
  }

  async #refuseNew(scope: IdempotencyScope): Promise<void> {
    if (await selectKey(this.#storage.db, scope).select('key').executeTakeFirst()) return;
    this.#kept.refused(scope);
    throw new AppError(
      'quota_exceeded',
      'you or your team have used too many Idempotency-Keys within a day: nothing was done; leave the key out, or try again later',
    );
  }

  async claim(scope: IdempotencyScope, payload: string, resumable: boolean): Promise<Claim> {
    if (this.#kept.isFull(scope)) await this.#refuseNew(scope);
    // A body may contain a password, which could be guessed from a plain hash in a copy of the database.
    const fingerprints = this.#secrets.fingerprints(PURPOSE, payload);
    this.#claims += 1;
    const claim = `${this.#process}.${this.#claims}`;
    const held = { ...scope, claim };
    this.#held.add(claim);
    try {
      const result = await this.#storage.writes.write((tx) => this.#take(tx, held, fingerprints, resumable));
      if (result.state !== 'claimed') this.#held.delete(claim);
      return result;
    } catch (error) {
      // The row may have been written, but the request does not start.
      this.#over(held, { state: 'free' });
      throw error instanceof LostCommit ? storageUnavailable(error) : error;
    }
  }

  async #take(tx: Tx, held: HeldKey, fingerprints: readonly string[], resumable: boolean): Promise<Claim> {
    const { teamId, scope, key, caller, claim } = held;
    const inserted = await tx
      .insertInto('idempotency_keys')
      .values({
        team_id: teamId,
        scope,
        key,
        fingerprint: fingerprints[0]!,
        created_at: this.#now(),
        status: null,
        response: null,
        claim,
        caller,
        node_id: this.#nodeId,
      })
      .onConflict((conflict) => conflict.columns(['team_id', 'scope', 'key']).doNothing())
      .returning('key')
      .executeTakeFirst();
    if (inserted) this.#kept.count(held, BYTES_OF_KEY);
    if (inserted) return { state: 'claimed', held };
    return this.#repeat(tx, held, fingerprints, resumable);
  }

  async #repeat(tx: Tx, held: HeldKey, fingerprints: readonly string[], resumable: boolean): Promise<Claim> {
    const first = await selectKey(tx, held).select(['fingerprint', 'status', 'response', 'claim', 'node_id']).executeTakeFirst();
    // Released between the insert and this read: the next repeat finds it free.
    if (!first) return { state: 'running' };
    if (!fingerprints.includes(first.fingerprint)) return { state: 'other_payload' };
    if (first.status === null) return this.#whileUnderWay(tx, held, { claim: first.claim, nodeId: first.node_id }, resumable);
    if (first.status !== INTERRUPTED) return { state: 'finished', status: first.status, response: first.response ?? '' };
    return resumable ? this.#takeOver(tx, held, first) : { state: 'interrupted' };
  }

  /** The row says that the first request is in progress: true only while its process also holds the claim. */
  async #whileUnderWay(tx: Tx, held: HeldKey, { claim, nodeId }: UnderWay, resumable: boolean): Promise<Claim> {
    if (claim === null || this.#held.has(claim)) return { state: 'running' };
    const end = this.#unstored.get(claim)?.end;
    if (end?.state === 'finished') {
      const { status, response } = end;
      await whereHeld(tx.updateTable('idempotency_keys').set({ status, response }), { ...held, claim }).execute();
      return { state: 'finished', status, response };
    }
    if (!(await this.#hasEnded(tx, { claim, nodeId }))) return { state: 'running' };
    return end?.state === 'free' || resumable ? this.#takeOver(tx, held, { claim, status: null }) : { state: 'interrupted' };
  }

  /** Whether the process of a claim that this process does not hold has ended, or has ended the request. */
  async #hasEnded(tx: Tx, { claim, nodeId }: UnderWay): Promise<boolean> {
    if (claim?.startsWith(this.#process)) return true;
    if (this.#nodeId === null || nodeId === null) return false;
    // A start that was repeated keeps the id of its control plane.
    return nodeId === this.#nodeId || !(await tx.selectFrom('nodes').select('id').where('id', '=', nodeId).executeTakeFirst());
  }

  /** One statement, so that only one of two repeats proceeds, on both engines. */
  async #takeOver(tx: Tx, held: HeldKey, from: { claim: string | null; status: number | null }): Promise<Claim> {
    const taken = await whereKey(tx.updateTable('idempotency_keys').set({ status: null, claim: held.claim, node_id: this.#nodeId }), held)
      .where('status', from.status === null ? 'is' : '=', from.status)
      .where('claim', from.claim === null ? 'is' : '=', from.claim)
      .returning('caller')
      .executeTakeFirst();
    // The key still counts against the caller who used it first.
    return taken ? { state: 'claimed', held: { ...held, caller: taken.caller ?? '' } } : { state: 'running' };
  }

  async finish(held: HeldKey, status: number, response: string): Promise<void> {
    await this.#storeEnd(held, { state: 'finished', status, response }, async (tx) => {
      await whereHeld(tx.updateTable('idempotency_keys').set({ status, response }), held).execute();
    });
    this.#kept.count(held, Buffer.byteLength(response));
  }

  async release(held: HeldKey): Promise<void> {
    await this.#storeEnd(held, { state: 'free' }, async (tx) => {
      await whereHeld(tx.deleteFrom('idempotency_keys'), held).execute();
    });
    this.#kept.count(held, -BYTES_OF_KEY);
  }

  /** Keeps a result that cannot be stored in memory until a repeat asks for it. */
  async #storeEnd(held: HeldKey, end: End, work: (tx: Tx) => Promise<void>): Promise<void> {
    try {
      await this.#storage.writes.write(work);
      this.#held.delete(held.claim);
    } catch (error) {
      this.#over(held, end);
      throw error;
    }
  }

  #over(held: HeldKey, end: End): void {
    this.#unstored.set(held.claim, { held, end });
    this.#held.delete(held.claim);
  }

  /** Deletes responses older than a day. */
  async sweep(): Promise<void> {
    const before = this.#now() - KEPT_MS;
    for (;;) {
      const old = await this.#storage.db
        .selectFrom('idempotency_keys')
        .select(['team_id', 'scope', 'key', 'caller', octets(sql`octet_length(response)`).as('bytes')])
        .where('created_at', '<', before)
        .limit(SWEEP_CHUNK)
        .execute();
      if (old.length === 0) return;
      await this.#storage.writes.write(async (tx) => {
        for (const row of old) {
          await whereKey(tx.deleteFrom('idempotency_keys'), { teamId: row.team_id, scope: row.scope, key: row.key }).execute();
        }
      });
      for (const row of old) {
        const bytes = Number(row.bytes);
        this.#kept.add(
          { teamId: row.team_id, caller: row.caller ?? '' },
          { all: -BYTES_OF_KEY - bytes, long: bytes > SHORT_ANSWER ? -bytes : 0 },
        );
      }
    }
  }
}

/** Also those of a control plane that served the database alone: no other one could begin before it had ended. */
function isOfDeadNode() {
  return sql<boolean>`(node_id is null or node_id not in (select id from nodes))`;
}

/** Null without an answer; a bigint comes as text from PostgreSQL. */
function octets(expression: RawBuilder<unknown>): RawBuilder<number | string> {
  return sql<number | string>`coalesce(${expression}, 0)`;
}

function selectKey(db: Db, scope: KeyName) {
  return whereKey(db.selectFrom('idempotency_keys'), scope);
}

/** The identity of a key, independent of its caller. */
type KeyName = Pick<IdempotencyScope, 'teamId' | 'scope' | 'key'>;

interface Filterable<Q> {
  where(column: 'team_id' | 'scope' | 'key', operator: '=', value: string): Q;
}

function whereKey<Q extends Filterable<Q>>(query: Q, scope: KeyName): Q {
  return query.where('team_id', '=', scope.teamId).where('scope', '=', scope.scope).where('key', '=', scope.key);
}

/** Only while the request still holds it. */
function whereHeld<Q extends Filterable<Q> & { where(column: 'claim', operator: '=', value: string): Q }>(query: Q, held: HeldKey): Q {
  return whereKey(query, held).where('claim', '=', held.claim);
}
