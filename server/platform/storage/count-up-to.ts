import type { SelectQueryBuilder } from 'kysely';
import type { DbOrTx } from './db.ts';
import type { Schema } from './schema.ts';

/** Counts the rows of a query up to `most`: with an index, a limit check takes the same time for any number of rows. */
export async function countUpTo<Table extends keyof Schema, Row>(
  db: DbOrTx,
  rows: SelectQueryBuilder<Schema, Table, Row>,
  most: number,
): Promise<number> {
  const { count } = await db
    .selectFrom(rows.limit(most).as('counted'))
    .select((eb) => eb.fn.countAll<number | string | bigint>().as('count'))
    .executeTakeFirstOrThrow();
  // PostgreSQL counts in bigint, which may come as text.
  return Number(count);
}
