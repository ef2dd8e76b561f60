import { sql } from 'kysely';
import type { RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely';
import { mergePages } from '../core/list-page.ts';
import type { Among, Found, ListPage, RecordFilter, SortValue, Total } from '../core/list-page.ts';
import { countUpTo } from './count-up-to.ts';
import type { DbOrTx } from './db.ts';
import type { Schema } from './schema.ts';
import { lowerAscii } from './search-text.ts';

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
  const pattern = `%${lowerAscii(text).replace(/[\\%_]/g, String.raw`\$&`)}%`;
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

/** For `$call`: what the lists of records of routers have in common. */
export function ofTeam<Tables, Table extends keyof Tables, Row>(
  teamId: string,
  { routerId, from, to }: RecordFilter,
): (query: SelectQueryBuilder<Tables, Table, Row>) => SelectQueryBuilder<Tables, Table, Row> {
  const conditions = [
    sql<SqlBool>`team_id = ${teamId}`,
    ...(routerId === undefined ? [] : [sql<SqlBool>`router_id = ${routerId}`]),
    ...(from === undefined ? [] : [sql<SqlBool>`created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql<SqlBool>`created_at < ${to}`]),
  ];
  return (query) => conditions.reduce((narrowed, condition) => narrowed.where(condition), query);
}

/**
 * One page of what several queries find together: one for each value of a filter, so that an index with that value in front gives the records
 * in their order. No record may be found by two of them.
 */
export async function findPage<Table extends keyof Schema, Row extends { id: string }>(
  db: DbOrTx,
  queries: readonly SelectQueryBuilder<Schema, Table, Row>[],
  {
    page,
    value,
    valueOf,
    wantsTotal,
  }: { page: ListPage; value: RawBuilder<unknown>; valueOf: (row: Row) => SortValue; wantsTotal: boolean },
): Promise<Found<Row>> {
  const pages: Row[][] = [];
  for (const query of queries) pages.push(await query.$call(pageOf(page, value)).execute());
  return { rows: mergePages(pages, page, valueOf), total: wantsTotal ? await totalOf(db, queries) : undefined };
}
