import type { Clock } from './clock.ts';
import type { BatchedRows, Counters } from './counters.ts';
import { dropFromLargest } from './drop-from-largest.ts';
import { inFewSizes } from './few-sizes.ts';
import type { Log } from './log.ts';
import { Periodic } from './periodic.ts';
import { storeApart } from './store-apart.ts';

/** A killed control plane loses the changes of this time. */
const FLUSH_EVERY_MS = 2000;
/** Rows of one statement: as many as `PRESENCE_CHUNK`, about a millisecond on SQLite. */
const CHUNK_ROWS = 500;

export interface RecordWriterOptions<Row> {
  clock: Pick<Clock, 'setTimeout'>;
  log: Pick<Log, 'warn' | 'error'>;
  /** Inserts the rows in one transaction, or overwrites those that are there by their ids. */
  upsert: (rows: readonly Row[]) => Promise<void>;
  /** Rows that may wait for the database. With more, the oldest of the party with the most are dropped. */
  most: number;
  /** Whose row it is, for rows that a party can have many of in a short time. All are of one party when missing. */
  partyOf?: (row: Row) => string;
  /** The metric label of rows that are never stored. */
  kind: BatchedRows;
  counters?: Pick<Counters, 'refuseRows'> | undefined;
}

/**
 * Buffers rows of a history in memory and stores them every two seconds, so that their producers never wait for the database. A row
 * that changes before it is stored is stored once.
 */
export class RecordWriter<Row extends { id: string }> {
  readonly #options: RecordWriterOptions<Row>;
  readonly #periodic: Periodic;
  #waiting = new Map<string, Row>();
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: RecordWriterOptions<Row>) {
    this.#options = options;
    const { clock, log, kind } = options;
    const failure = `rows of ${kind} could not be stored`;
    this.#periodic = new Periodic({ clock, log, everyMs: FLUSH_EVERY_MS, failure, run: () => this.flush() });
  }

  get size(): number {
    return this.#waiting.size;
  }

  start(): void {
    this.#periodic.start();
  }

  /** Stores what waits. Never rejects: what the database cannot take now is lost. */
  async stop(): Promise<void> {
    await this.#periodic.stop();
    await this.flush();
  }

  /** The newest form of a row. */
  put(row: Row): void {
    this.#waiting.set(row.id, row);
    this.#makeRoom();
  }

  /** Stores what waits. Never rejects: what the database cannot take now waits for the next flush. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flush());
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    const rows = [...this.#waiting.values()];
    this.#waiting = new Map();
    let stored = 0;
    for (const chunk of inFewSizes(rows, CHUNK_ROWS)) {
      stored += chunk.length;
      const left = await this.#store(chunk);
      if (left.length === 0) continue;
      // The database is unavailable, so the other chunks would fail too.
      this.#putBack([...left, ...rows.slice(stored)]);
      return;
    }
  }

  /** @returns the rows that the database cannot take now */
  async #store(chunk: readonly Row[]): Promise<readonly Row[]> {
    const { log, upsert, kind, counters } = this.#options;
    const { refused, left, error } = await storeApart(chunk, upsert);
    for (const { row, error: reason } of refused)
      log.error({ err: reason }, `the database rejects row ${row.id} of ${kind}; it is dropped`);
    counters?.refuseRows(kind, refused.length);
    if (left.length > 0) log.warn({ err: error, count: left.length }, `rows of ${kind} could not be stored`);
    return left;
  }

  /** Before those that came meanwhile; a row that changed meanwhile keeps its newer form. */
  #putBack(rows: readonly Row[]): void {
    this.#waiting = new Map([...rows.map((row) => [row.id, row] as const), ...this.#waiting]);
    this.#makeRoom();
  }

  #makeRoom(): void {
    const { most, partyOf = () => '', kind, counters } = this.#options;
    const before = this.#waiting.size;
    while (this.#waiting.size > most) {
      // Some more at once, because finding the largest looks at all.
      const count = Math.max(this.#waiting.size - most, Math.floor(most / 100));
      this.#waiting = new Map(dropFromLargest([...this.#waiting.values()], partyOf, count).map((row) => [row.id, row]));
    }
    if (this.#waiting.size < before) counters?.refuseRows(kind, before - this.#waiting.size);
  }
}
