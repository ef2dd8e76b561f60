import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import type { DbOrTx } from './db.ts';

/** Up to where changes were read; undefined before the first read, which finds every row. */
export type ChangeMark = number | undefined;

/** Transaction ids of rows have 32 bits, and go on at zero. */
const ID_MASK = sql.raw('4294967295');
const HALF_OF_IDS = sql.raw('2147483648');

/**
 * Reads rows that have changed since a mark. PostgreSQL stores with each row which transaction wrote it, so that no clock is compared and no
 * write pays for it. A row may come again without a change, and none is missed: the mark is the oldest transaction that was under way, so that
 * one that ends late is still after it. For PostgreSQL only, which several control planes need.
 * @param select a statement with the columns that the caller wants, `id` among them; it calls `isChanged` with the name of its table
 */
export async function readChanged<Row extends { id: string }>(
  db: DbOrTx,
  mark: ChangeMark,
  select: (isChanged: (table: string) => RawBuilder<SqlBool>) => RawBuilder<Row>,
): Promise<{ rows: Row[]; mark: ChangeMark }> {
  const isChanged = (table: string): RawBuilder<SqlBool> =>
    mark === undefined
      ? sql<SqlBool>`true`
      : sql<SqlBool>`((cast(cast(${sql.ref(`${table}.xmin`)} as text) as bigint) - cast(${mark} as bigint)) & ${ID_MASK}) < ${HALF_OF_IDS}`;
  // One statement has one snapshot: its mark is exactly where its rows end. The join brings the mark also when nothing has changed.
  const { rows } = await sql<Row & { next_mark: number }>`
    select changed.*, snapshot.next_mark
    from (select cast(cast(pg_snapshot_xmin(pg_current_snapshot()) as text) as bigint) & ${ID_MASK} as next_mark) as snapshot
    left join (${select(isChanged)}) as changed on true`.execute(db);
  return {
    rows: rows.filter(({ id }) => (id as string | null) !== null).map(({ next_mark: _mark, ...row }) => row as unknown as Row),
    mark: rows[0]?.next_mark ?? mark,
  };
}
