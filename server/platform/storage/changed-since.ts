import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import type { DbOrTx } from './db.ts';

/** Up to where changes were read; undefined before the first read, which finds every row. */
export type ChangeMark = number | undefined;

/** A condition on a row of this table: it was written since a mark. */
export type IsChanged = (table: string) => RawBuilder<SqlBool>;

/** Transaction ids of rows have 32 bits, and go on at zero. */
const ID_MASK = sql.raw('4294967295');
const HALF_OF_IDS = sql.raw('2147483648');
/** The next mark: one statement has one snapshot, so that it is exactly where the rows of the same statement end. */
const NEXT_MARK = sql<number>`cast(cast(pg_snapshot_xmin(pg_current_snapshot()) as text) as bigint) & ${ID_MASK}`;

/**
 * Reads rows that have changed since a mark. PostgreSQL stores with each row which transaction wrote it, so that no clock is compared and no
 * write pays for it. A row may come again without a change, and none is missed: the mark is the oldest transaction that was under way, so that
 * one that ends late is still after it. For PostgreSQL only, which several control planes need.
 * @param select a statement with the columns that the caller wants, `id` among them; it calls `isChanged` with the name of its table
 */
export async function readChanged<Row extends { id: string }>(
  db: DbOrTx,
  mark: ChangeMark,
  select: (isChanged: IsChanged) => RawBuilder<Row>,
): Promise<{ rows: Row[]; mark: ChangeMark }> {
  // The join brings the mark also when nothing has changed.
  const { rows } = await sql<Row & { next_mark: number }>`
    select changed.*, snapshot.next_mark
    from (select ${NEXT_MARK} as next_mark) as snapshot
    left join (${select(isChangedSince(mark))}) as changed on true`.execute(db);
  return {
    rows: rows.filter(({ id }) => (id as string | null) !== null).map(({ next_mark: _mark, ...row }) => row as unknown as Row),
    mark: rows[0]?.next_mark ?? mark,
  };
}

/** For {@link answerAll}: whether any rows of a table, or those of them for which `only` holds, have changed. */
export function hasChanged(table: string, only = sql<SqlBool>`true`): (isChanged: IsChanged) => RawBuilder<SqlBool> {
  return (isChanged) => sql<SqlBool>`exists (select 1 from ${sql.table(table)} where ${only} and ${isChanged(table)})`;
}

/** Answers questions about what has changed, each since a mark of its own, by one statement. For PostgreSQL only. */
export async function answerAll(
  db: DbOrTx,
  questions: readonly { mark: ChangeMark; asks: (isChanged: IsChanged) => RawBuilder<SqlBool> }[],
): Promise<{ answers: boolean[]; mark: ChangeMark }> {
  const answers = questions.map(({ mark, asks }) => asks(isChangedSince(mark)));
  const { rows } = await sql<{ mark: number; answers: boolean[] }>`
    select ${NEXT_MARK} as mark, array[${sql.join(answers)}] as answers`.execute(db);
  return rows[0]!;
}

function isChangedSince(mark: ChangeMark): IsChanged {
  return (table) =>
    mark === undefined
      ? sql<SqlBool>`true`
      : sql<SqlBool>`((cast(cast(${sql.ref(`${table}.xmin`)} as text) as bigint) - cast(${mark} as bigint)) & ${ID_MASK}) < ${HALF_OF_IDS}`;
}
