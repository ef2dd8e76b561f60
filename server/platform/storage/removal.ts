import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { FIRST_ROWS, removeInBatches } from '../core/removal-batches.ts';
import type { RemovalOptions } from '../core/removal-batches.ts';
import type { DbOrTx, Storage } from './db.ts';
import { TABLES } from './tables.ts';
import type { TableName } from './tables.ts';

/** Rows that go with a record. There may be very many of them, so they go first, in batches of their own. */
export interface Children {
  table: TableName;
  /** Names the record. */
  column: string;
  /** Rows of megabytes. */
  large?: boolean;
}

export interface Records {
  table: TableName;
  ids: readonly string[];
  children?: readonly Children[];
  /** Checked again when a record itself is deleted. */
  isStill?: RawBuilder<unknown>;
}

/** Deletes records with a column `id`, with their children. @throws a storage error */
export async function removeRecords(
  storage: Pick<Storage, 'writes'>,
  { table, ids, children = [], isStill = sql`1 = 1` }: Records,
  options: RemovalOptions = {},
): Promise<void> {
  for (const child of children) await removeChildren(storage, child, ids, options.signal);
  if (options.signal?.aborted) return;
  let next = 0;
  await removeInBatches(
    storage,
    async (tx, limit) => {
      const some = ids.slice(next, next + limit);
      next += some.length;
      if (some.length > 0) await sql`delete from ${sql.table(table)} where id in (${sql.join(some)}) and ${isStill}`.execute(tx);
      return some.length;
    },
    options,
  );
}

/** Deletes the children of one table of some records. @throws a storage error */
export async function removeChildren(
  storage: Pick<Storage, 'writes'>,
  children: Children,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const firstRows = children.large === true ? 1 : FIRST_ROWS;
  for (const id of ids) await removeInBatches(storage, (tx, limit) => deleteChildren(tx, children, id, limit), { signal, firstRows });
}

async function deleteChildren(tx: DbOrTx, { table, column }: Children, id: string, limit: number): Promise<number> {
  const key = sql.join(TABLES[table].map((name) => sql.ref(name)));
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} where (${key}) in (
    select ${key} from ${sql.table(table)} where ${sql.ref(column)} = ${id} limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}
