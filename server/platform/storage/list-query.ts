import { sql } from 'kysely';
import type { RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely';
import type { Among, ListPage, Total } from '../core/list-page.ts';
import { countUpTo } from './count-up-to.ts';
import type { DbOrTx } from './db.ts';
import type { Schema } from './schema.ts';

/**
 * Counting reads every record that matches: this many take about 10 ms, in which SQLite does nothing else. It is also the number of
 * routers that a team may have (`SIGNALBOX_MAX_ROUTERS_PER_TEAM`), so the total of routers is exact.
 */
export const MOST_COUNTED = 20_000;

/**
 * For `$call`: one page of a list that is ordered by an expression and, where values are equal, by an id. Compared as row values, so that an
 * index on the expression and the id finds where the page begins, and nothing is sorted.
 * @param value column or expression that is never null
 * @param id column with the id
 */
export function pageOf<Tables, Table extends keyof Tables, Row>(
  { descending, after, limit }: ListPage,
  value: RawBuilder<unknown>,
  id = 'id',
): (query: SelectQueryBuilder<Tables, Table, Row>) => SelectQueryBuilder<Tables, Table, Row> {
  const key = sql.ref(id);
  const [order, beyond] = descending ? (['desc', sql`<`] as const) : (['asc', sql`>`] as const);
  return (query) => {
    const rest = after === undefined ? query : query.where(sql<SqlBool>`(${value}, ${key}) ${beyond} (${after.value}, ${after.id})`);
    return rest.orderBy(value, order).orderBy(key, order).limit(limit);
  };
}

/** For `where`: a column has one of the wanted values and none of the others. Undefined when the filter names none. */
export function isAmong(column: string, { only, not }: Among<string | null>): RawBuilder<SqlBool> | undefined {
  const ref = sql.ref(column);
  const wanted = only.length === 0 ? [] : [anyOf(ref, only)];
  // `not in` is never true of a column without a value.
  const unwanted = not.length === 0 ? [] : [sql<SqlBool>`coalesce(not ${anyOf(ref, not)}, true)`];
  const conditions = [...wanted, ...unwanted];
  return conditions.length === 0 ? undefined : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}

function anyOf(ref: RawBuilder<unknown>, values: readonly (string | null)[]): RawBuilder<SqlBool> {
  const named = values.filter((value) => value !== null);
  const conditions = [
    ...(named.length === 0 ? [] : [sql`${ref} in (${sql.join(named)})`]),
    ...(values.includes(null) ? [sql`${ref} is null`] : []),
  ];
  return sql<SqlBool>`(${sql.join(conditions, sql` or `)})`;
}

/** For `where`: one of the columns holds the text. Small and capital letters from A to Z are the same, as `lower` has them on both engines. */
export function contains(columns: readonly string[], text: string): RawBuilder<SqlBool> {
  const lowered = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const pattern = `%${lowered.replace(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql<SqlBool>`(${sql.join(
    columns.map((column) => sql`lower(${sql.ref(column)}) like ${pattern} escape '\\'`),
    sql` or `,
  )})`;
}

/** Counts what the queries find together, no further than {@link MOST_COUNTED}. */
export async function totalOf<Table extends keyof Schema, Row>(
  db: DbOrTx,
  queries: readonly SelectQueryBuilder<Schema, Table, Row>[],
): Promise<Total> {
  let count = 0;
  for (const query of queries) if (count <= MOST_COUNTED) count += await countUpTo(db, query, MOST_COUNTED + 1 - count);
  return { count: Math.min(count, MOST_COUNTED), isExact: count <= MOST_COUNTED };
}
