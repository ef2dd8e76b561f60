import { AppError } from '../core/errors.ts';
import type { Db, Tx, WriteQueue } from './db.ts';
import { storageUnavailable } from './storage-errors.ts';
import type { WriteScope } from './write-scope.ts';

/**
 * How long one transaction takes further writes, milliseconds: nothing else runs meanwhile, so that a request waits for this and one
 * commit. A write may store what hundreds of agents report and take longer by itself.
 */
const BATCH_MS = 20;
/** Writes in one transaction, however short they are. */
const BATCH_LIMIT = 500;
/** Limit of queued writes; each belongs to a request or an agent message that is itself waiting. */
const QUEUE_LIMIT = 20_000;
interface PendingWrite {
  work: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** The result of one write, kept until the commit. */
type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

/** One shared transaction. */
interface Batch {
  /** Committed or rolled back: a late write of this batch must not touch the connection. */
  over: boolean;
  deadline: PromiseWithResolvers<never>;
}

/** The savepoint around one write, on the connection that holds the shared transaction. */
export interface Savepoint {
  set: { run(): unknown };
  undo: { run(): unknown };
  release: { run(): unknown };
  /** False once SQLite itself has ended the transaction, as it does when the disk is full. */
  isOpen(): boolean;
}

/**
 * Group commit for SQLite. Invariants:
 * - writes run one after another in the order of submission, each in its own savepoint, so that a failing one rolls back
 *   only itself;
 * - no caller gets a result before the commit (one fsync for all); if it fails, all writes of the batch fail;
 * - the transaction holds the lock of the connection that writes, so other statements on `db` wait for its end and never join it. Single
 *   reads have a connection of their own, and see what is committed.
 */
export class GroupCommit implements WriteQueue {
  readonly #db: Db;
  readonly #scope: WriteScope;
  readonly #savepoint: Savepoint;
  readonly #deadlineMs: number;
  #queue: PendingWrite[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;

  /** @param deadlineMs Timeout of one transaction, which is then rolled back: a write waits for something other than queries */
  constructor(db: Db, scope: WriteScope, savepoint: Savepoint, deadlineMs: number) {
    this.#db = db;
    this.#scope = scope;
    this.#savepoint = savepoint;
    this.#deadlineMs = deadlineMs;
  }

  /** @throws AppError `unavailable` when the queue is full or closed or the commit failed; else whatever `work` throws */
  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    this.#scope.assertOutside();
    if (this.#closed) throw new AppError('unavailable', 'the database is being closed');
    if (this.#queue.length >= QUEUE_LIMIT) throw new AppError('unavailable', 'too many writes are waiting');
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Stops accepting writes and waits until pending ones have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      // All writes of one event-loop turn share the transaction. Between two of them other work gets its turn.
      await new Promise(setImmediate);
      const batch = this.#queue.slice(0, BATCH_LIMIT);
      const done = await this.#commit(batch);
      this.#queue = this.#queue.slice(done);
    }
    this.#draining = undefined;
  }

  /** @returns how many of them are over; the others wait for the next transaction */
  async #commit(writes: PendingWrite[]): Promise<number> {
    const batch: Batch = { over: false, deadline: Promise.withResolvers<never>() };
    // Prevents an unhandled rejection while no write is racing against it.
    batch.deadline.promise.catch(() => undefined);
    const timer = setTimeout(() => {
      batch.deadline.reject(new AppError('internal', `a write waited for over ${this.#deadlineMs} ms inside its transaction`));
    }, this.#deadlineMs);
    try {
      const outcomes = await this.#db.transaction().execute((tx) => this.#runAll(tx, writes, batch));
      for (const [index, outcome] of outcomes.entries()) settle(writes[index]!, outcome);
      return outcomes.length;
    } catch (error) {
      for (const write of writes) write.reject(storageUnavailable(error));
      return writes.length;
    } finally {
      batch.over = true;
      clearTimeout(timer);
    }
  }

  async #runAll(tx: Tx, writes: PendingWrite[], batch: Batch): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    const until = performance.now() + BATCH_MS;
    for (const { work } of writes) {
      if (outcomes.length > 0 && performance.now() >= until) break;
      this.#savepoint.set.run();
      outcomes.push(await Promise.race([this.#runOne(tx, work, batch), batch.deadline.promise]));
    }
    return outcomes;
  }

  async #runOne(tx: Tx, work: PendingWrite['work'], batch: Batch): Promise<Outcome> {
    try {
      const value = await this.#scope.run(async () => work(tx));
      // Too late: the savepoint that is set now, if any, is that of a later batch.
      if (!batch.over) this.#savepoint.release.run();
      return { ok: true, value };
    } catch (error) {
      if (batch.over) return { ok: false, error };
      // The whole transaction was rolled back, including the other writes in it.
      if (!this.#savepoint.isOpen()) throw error;
      this.#savepoint.undo.run();
      this.#savepoint.release.run();
      return { ok: false, error };
    }
  }
}

function settle(write: PendingWrite, outcome: Outcome): void {
  if (outcome.ok) write.resolve(outcome.value);
  else write.reject(outcome.error);
}
