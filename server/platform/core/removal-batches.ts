import { setTimeout as pause } from 'node:timers/promises';

/**
 * How old records are deleted: in batches that take about {@link BATCH_MS} of the database each, with a rest in between, so that a million old
 * rows hold nobody up. On SQLite a batch holds the event loop, too; on PostgreSQL only the rows that it deletes.
 */

/** What a batch may take of the database, milliseconds: about the time of one list. Batches grow and shrink towards it. */
export const BATCH_MS = 5;
/** Rows of the first batch: a device, the most expensive row, takes 0.15 ms with its entries in the indexes for searches. */
export const FIRST_ROWS = 16;
/** Rows of one statement: its parameters, and what a lost connection to PostgreSQL has done in vain. */
const MOST_ROWS = 500;
/** After each batch the database belongs to others for three times its duration: a removal takes a quarter of it at most. */
const REST_FACTOR = 3;
const LONGEST_REST_MS = 200;
/** The stop of an owner that does not stop. */
export const NEVER = new AbortController().signal;

/** What is needed of the storage. */
interface Database<Tx> {
  writes: { write<T>(work: (tx: Tx) => Promise<T>): Promise<T> };
}

export interface RemovalOptions {
  /** Ends the removal after the batch in progress. */
  signal?: AbortSignal | undefined;
  /** Rows of the first batch, for rows of megabytes. */
  firstRows?: number;
  /** Somebody waits: the database belongs to others half of the time only. */
  isAwaited?: boolean;
}

/**
 * Repeats a removal until it finds less than it may take.
 * @param remove deletes at most `limit` rows, in its own statements. Returns how many it has looked at
 * @returns how many rows it has looked at in all
 * @throws a storage error; what was deleted before stays deleted
 */
export async function removeInBatches<Tx>(
  { writes }: Database<Tx>,
  remove: (tx: Tx, limit: number) => Promise<number>,
  { signal = NEVER, firstRows = FIRST_ROWS, isAwaited = false }: RemovalOptions = {},
): Promise<number> {
  let all = 0;
  for (let limit = firstRows; !signal.aborted;) {
    const { count, tookMs } = await writes.write(async (tx) => {
      const begun = performance.now();
      return { count: await remove(tx, limit), tookMs: performance.now() - begun };
    });
    all += count;
    if (count < limit) break;
    limit = nextLimit(limit, tookMs);
    await rest(isAwaited ? tookMs : tookMs * REST_FACTOR, signal);
  }
  return all;
}

/** As many rows as would have taken {@link BATCH_MS}, but at most twice as many as before: one quick batch says little. */
export function nextLimit(limit: number, tookMs: number): number {
  const fitting = Math.floor((limit * BATCH_MS) / Math.max(tookMs, 0.01));
  return Math.max(1, Math.min(fitting, limit * 2, MOST_ROWS));
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(Math.min(ms, LONGEST_REST_MS), undefined, { signal }).catch(() => undefined);
}
