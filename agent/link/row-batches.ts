import { MAX_NAME_CHARS, MAX_NAMES, ROW_BATCH_BYTES } from '../../protocol/index.ts';
import { AgentError } from '../core/errors.ts';

type Row = Record<string, string>;

/** Largest number of rows in one message (the schema's limit). */
const MAX_ROWS = 10_000;

/**
 * Approximate size of a row as JSON: quotes, colon and comma per property. It counts characters, because counting the bytes of half a
 * million short values takes a tenth of a second. A batch can have up to six times as many bytes, which still fit into a message.
 */
function rowSize(row: Row): number {
  let size = 2;
  for (const key in row) size += key.length + (row[key]?.length ?? 0) + 6;
  return size;
}

/** Limit of different names in one batch: the message itself has a few more. */
const MAX_BATCH_NAMES = MAX_NAMES - 16;

/**
 * Splits rows into batches of about ROW_BATCH_BYTES, so that no message delays the next one for long, and with no more names than
 * the control plane accepts: a router that invents names must not break its agent's tunnel.
 * @throws AgentError `unsupported` for a row that does not fit into a message
 */
export function* rowBatches(rows: Row[]): Generator<Row[]> {
  let batch: Row[] = [];
  let size = 0;
  let names = new Set<string>();
  for (const row of rows) {
    const bytes = rowSize(row);
    const own = namesOf(row);
    const isFull = size + bytes > ROW_BATCH_BYTES || batch.length >= MAX_ROWS || names.size + countNew(names, own) > MAX_BATCH_NAMES;
    if (batch.length > 0 && isFull) {
      yield batch;
      batch = [];
      size = 0;
      names = new Set();
    }
    batch.push(row);
    size += bytes;
    for (const name of own) names.add(name);
  }
  if (batch.length > 0) yield batch;
}

function namesOf(row: Row): string[] {
  const names = Object.keys(row);
  if (names.length > MAX_BATCH_NAMES) throw new AgentError('unsupported', `the answer has a row of ${names.length} properties`);
  if (names.some((name) => name.length > MAX_NAME_CHARS))
    throw new AgentError('unsupported', 'the answer has a property with a name too long for the tunnel');
  return names;
}

function countNew(known: ReadonlySet<string>, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (known.has(name) ? 0 : 1), 0);
}
