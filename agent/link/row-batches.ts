import { ROW_BATCH_BYTES } from '../../protocol/index.ts';

type Row = Record<string, string>;

/** Rows of one message at most (the schema's bound). */
const MAX_ROWS = 10_000;

/** About what a row takes as JSON: quotes, colon and comma per property. Escapes are not counted; a message has room for them. */
function rowSize(row: Row): number {
  let size = 2;
  for (const key in row) size += key.length + (row[key]?.length ?? 0) + 6;
  return size;
}

/** Cuts rows into batches of about ROW_BATCH_BYTES, so that no message delays the next one for long. */
export function* rowBatches(rows: Row[]): Generator<Row[]> {
  let batch: Row[] = [];
  let size = 0;
  for (const row of rows) {
    const bytes = rowSize(row);
    if (batch.length > 0 && (size + bytes > ROW_BATCH_BYTES || batch.length >= MAX_ROWS)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(row);
    size += bytes;
  }
  if (batch.length > 0) yield batch;
}
