import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { DbOrTx, Storage, Tx } from './db.ts';
import { programSchema } from './migrate.ts';
import { indexWaiting } from './search-waiting.ts';
import { isTableName, TABLE_NAMES, type TableName, TABLES } from './tables.ts';

/**
 * The whole database as one JSON-lines file that either engine can read: a header, one line per row, and a last line
 * with their count, so that a truncated file is detected. Rows contain the raw column values.
 */
const FORMAT = 1;
/** Rows read at once: the largest, jobs with their output, have about 100 kB. */
const READ_ROWS = 200;
/** Rows of one insert: 35 columns at most, so well under SQLite's 32,766 parameters. */
const WRITE_ROWS = 100;

const lineSchema = z.union([
  z.strictObject({ signalbox_export: z.literal(FORMAT), schema: z.int(), exported_at: z.string() }),
  z.strictObject({ table: z.string(), row: z.record(z.string(), z.union([z.string(), z.number(), z.null()])) }),
  z.strictObject({ end: z.literal(true), rows: z.int() }),
]);
type Line = z.infer<typeof lineSchema>;
type Row = Record<string, string | number | null>;

/**
 * Writes a consistent snapshot to a new file (mode 0600; it contains hashes of secrets), while the control plane may
 * continue to write. @returns the number of rows
 * @throws AppError `conflict` when the file exists, `unavailable` when it cannot be written
 */
export async function exportDatabase(storage: Storage, file: string, now: Date): Promise<number> {
  const counted = { rows: 0 };
  await storage.db
    .transaction()
    .setAccessMode('read only')
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      // `flush`: on disk before the command reports success.
      const target = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
      await pipeline(Readable.from(exportLines(tx, now, counted)), target).catch((error: unknown) => {
        throw fileError(file, error);
      });
    });
  return counted.rows;
}

async function* exportLines(tx: Tx, now: Date, counted: { rows: number }): AsyncGenerator<string> {
  yield toLine({ signalbox_export: FORMAT, schema: programSchema(), exported_at: now.toISOString() });
  for (const table of TABLE_NAMES) {
    for await (const row of rowsOf(tx, table)) {
      counted.rows += 1;
      yield toLine({ table, row });
    }
  }
  yield toLine({ end: true, rows: counted.rows });
}

function toLine(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

/** All rows of a table in the order of its primary key, read page by page. */
async function* rowsOf(tx: Tx, table: TableName): AsyncGenerator<Row> {
  const keys: readonly string[] = TABLES[table];
  const columns = sql.join(keys.map((key) => sql.ref(key)));
  let last: Row | undefined;
  do {
    const after = last && sql.join(keys.map((key) => last?.[key]));
    const condition = after ? sql`where (${columns}) > (${after})` : sql``;
    const page = await sql<Row>`select * from ${sql.table(table)} ${condition} order by ${columns} limit ${READ_ROWS}`.execute(tx);
    yield* page.rows;
    last = page.rows.length === READ_ROWS ? page.rows.at(-1) : undefined;
  } while (last);
}

/**
 * Imports an export into an empty, migrated database: everything, or nothing on any error. @returns the number of rows
 * @throws AppError `conflict` for a database that is not empty or an export of another schema, `invalid` for a damaged file
 */
export async function importDatabase(storage: Storage, file: string, log: Log): Promise<number> {
  const rows = await storage.db.transaction().execute(async (tx) => {
    await refuseUnlessEmpty(tx);
    // The only transaction that waits for more than queries: nothing else uses this database yet.
    const input = createReadStream(file, 'utf8');
    try {
      return await importLines(tx, file, createInterface({ input, crlfDelay: Infinity }));
    } catch (error) {
      throw fileError(file, error);
    } finally {
      input.destroy();
    }
  });
  // Else the first searches after the start would read all records. Not worth an error: the rows are stored, and another try would be refused.
  await indexWaiting(storage).catch((error: unknown) =>
    log.warn(
      { err: error },
      'everything is imported, but the search index could not be written: the control plane does that after its start',
    ),
  );
  return rows;
}

async function refuseUnlessEmpty(tx: DbOrTx): Promise<void> {
  for (const table of TABLE_NAMES) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(tx);
    if (rows.length > 0) throw new AppError('conflict', `the database is not empty (${table}): import needs a new one`);
  }
}

async function importLines(tx: Tx, file: string, lines: AsyncIterable<string>): Promise<number> {
  let rows = 0;
  let lineNumber = 0;
  let ended = false;
  let batch: { table: TableName; rows: Row[] } | undefined;
  const flush = async (): Promise<void> => {
    if (batch) await insertRows(tx, batch.table, batch.rows);
    batch = undefined;
  };
  for await (const text of lines) {
    lineNumber += 1;
    const line = parseLine(file, lineNumber, text, ended);
    if ('signalbox_export' in line) refuseOtherSchema(line.schema);
    else if ('end' in line) ended = line.rows === rows;
    else {
      const table = line.table as TableName;
      if (batch && (batch.table !== table || batch.rows.length === WRITE_ROWS)) await flush();
      (batch ??= { table, rows: [] }).rows.push(line.row);
      rows += 1;
    }
  }
  await flush();
  if (!ended) throw new AppError('invalid', `${file} is incomplete: its last line is missing or counts other rows`);
  return rows;
}

/** A row that the database rejects (missing reference, unknown column) means that the file is damaged. */
async function insertRows(tx: Tx, table: TableName, rows: Row[]): Promise<void> {
  await sql`insert into ${sql.table(table)} ${valuesOf(rows)}`.execute(tx).catch((cause: unknown) => {
    throw cause instanceof AppError ? cause : new AppError('invalid', `the export is damaged: rows of ${table} do not fit`, { cause });
  });
}

function valuesOf(rows: Row[]) {
  const names = Object.keys(rows[0]!);
  const tuples = rows.map((row) => sql`(${sql.join(names.map((name) => row[name] ?? null))})`);
  return sql`(${sql.join(names.map((name) => sql.ref(name)))}) values ${sql.join(tuples)}`;
}

/** The header comes first and only first, the count last, and tables are ours. */
function parseLine(file: string, lineNumber: number, text: string, ended: boolean): Line {
  const damaged = (cause?: unknown) => new AppError('invalid', `${file}: line ${lineNumber} is not part of an export`, { cause });
  let line: Line;
  try {
    line = lineSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw damaged(cause);
  }
  if ('signalbox_export' in line !== (lineNumber === 1) || ended) throw damaged();
  if ('table' in line && !isTableName(line.table)) throw damaged();
  return line;
}

function refuseOtherSchema(schema: number): void {
  if (schema === programSchema()) return;
  throw new AppError(
    'conflict',
    `the export has schema ${schema}, this program schema ${programSchema()}: import it with the version that made it, then upgrade`,
  );
}

function fileError(file: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (error instanceof AppError || typeof code !== 'string' || !code.startsWith('E')) return error;
  if (code === 'EEXIST') return new AppError('conflict', `${file} exists already`);
  return new AppError('unavailable', `${file} can be neither read nor written (${code})`, { cause: error });
}
