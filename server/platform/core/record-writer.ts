import type { BatchedRows, Counters } from './counters.ts';
import type { Log } from './log.ts';
import { storeApart } from './store-apart.ts';

/** Rows of one statement: as many as `PRESENCE_CHUNK`, about a millisecond on SQLite. */
const CHUNK_ROWS = 500;

export interface RecordWriterOptions<Row> {
  log: Pick<Log, 'warn' | 'error'>;
  /** Inserts the rows in one transaction, or overwrites those that are there by their ids. */
  upsert: (rows: readonly Row[]) => Promise<void>;
  /** Rows that may wait for the database; the oldest go first. */
  most: number;
  /** What rows that are never stored are counted as. */
  kind: BatchedRows;
  counters?: Pick<Counters, 'refuseRows'> | undefined;
}

/**
 * Rows of a history that wait in memory until their owner flushes them, so that what makes them never waits for the database. A row
 * that changes before it is stored is stored once.
 */
export class RecordWriter<Row extends { id: string }> {
  readonly #options: RecordWriterOptions<Row>;
  #waiting = new Map<string, Row>();
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: RecordWriterOptions<Row>) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** The newest form of a row. */
  put(row: Row): void {
    this.#waiting.set(row.id, row);
    const { most, kind, counters } = this.#options;
    if (this.#waiting.size <= most) return;
    for (const oldest of this.#waiting.keys()) {
      this.#waiting.delete(oldest);
      break;
    }
    counters?.refuseRows(kind, 1);
  }

  /** Stores what waits. Never rejects: what the database cannot take now waits for the next flush. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flush());
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    const rows = [...this.#waiting.values()];
    this.#waiting = new Map();
    for (let start = 0; start < rows.length; start += CHUNK_ROWS) await this.#store(rows.slice(start, start + CHUNK_ROWS));
  }

  async #store(chunk: readonly Row[]): Promise<void> {
    const { log, upsert, kind, counters } = this.#options;
    const { refused, left, error } = await storeApart(chunk, upsert);
    for (const { row, error: reason } of refused)
      log.error({ err: reason }, `the database rejects row ${row.id} of ${kind}; it is dropped`);
    counters?.refuseRows(kind, refused.length);
    if (left.length === 0) return;
    // What has changed meanwhile is newer.
    this.#waiting = new Map([...left.map((row) => [row.id, row] as const), ...this.#waiting]);
    log.warn({ err: error, count: left.length }, `rows of ${kind} could not be stored`);
  }
}
