import { type RawBuilder, sql, type SqlBool } from 'kysely';
import type { Page } from '../core/page.ts';

/**
 * Where a page of a list begins that is ordered newest first by these two columns. Row values rather than `or`, so that
 * an index on both is used for the comparison as well.
 */
export function olderThan({ before }: Page, at: string, id: string): RawBuilder<SqlBool> {
  return before === undefined ? sql<SqlBool>`1 = 1` : sql<SqlBool>`(${sql.ref(at)}, ${sql.ref(id)}) < (${before.at}, ${before.id})`;
}
