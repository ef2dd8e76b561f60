import { type RawBuilder, type SelectQueryBuilder, sql, type SqlBool } from 'kysely';
import type { Page } from '../core/page.ts';

/**
 * Where a page of a list begins that is ordered newest first by these two columns. Row values rather than `or`, so that
 * an index on both is used for the comparison as well.
 */
export function olderThan({ before }: Page, at: string, id: string): RawBuilder<SqlBool> {
  return before === undefined ? sql<SqlBool>`1 = 1` : sql<SqlBool>`(${sql.ref(at)}, ${sql.ref(id)}) < (${before.at}, ${before.id})`;
}

/** For `$call`: one page of a table, newest first by `created_at` and `id`. */
export function newestFirst<Tables, Table extends keyof Tables, Row>(
  page: Page,
): (query: SelectQueryBuilder<Tables, Table, Row>) => SelectQueryBuilder<Tables, Table, Row> {
  return (query) =>
    query
      .where(olderThan(page, 'created_at', 'id'))
      .orderBy(sql.ref('created_at'), 'desc')
      .orderBy(sql.ref('id'), 'desc')
      .limit(page.limit);
}
