import { type SelectQueryBuilder, sql, type SqlBool } from 'kysely';
import type { Page } from '../core/page.ts';

/**
 * For `$call`: one page of a list that is ordered by a time and, for equal times, by an id, newest first. Compared as row values
 * rather than with `or`, so that an index on both columns finds where the page begins.
 * @param at column with the time
 * @param id column with the id
 */
export function newestFirst<Tables, Table extends keyof Tables, Row>(
  { before, limit }: Page,
  at = 'created_at',
  id = 'id',
): (query: SelectQueryBuilder<Tables, Table, Row>) => SelectQueryBuilder<Tables, Table, Row> {
  const [moment, key] = [sql.ref(at), sql.ref(id)];
  return (query) => {
    const older = before === undefined ? query : query.where(sql<SqlBool>`(${moment}, ${key}) < (${before.at}, ${before.id})`);
    return older.orderBy(moment, 'desc').orderBy(key, 'desc').limit(limit);
  };
}
