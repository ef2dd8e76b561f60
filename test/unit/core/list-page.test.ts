import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstOf } from '../../../server/platform/core/list-page.ts';
import type { ListPage } from '../../../server/platform/core/list-page.ts';

const row = fc.record({ id: fc.stringMatching(/^[a-f]{1,3}$/), value: fc.integer({ min: 0, max: 9 }) });

test('the first page of rows in memory is the beginning of all rows in their order, behind the last page', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(row, { selector: ({ id }) => id, maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      fc.boolean(),
      fc.option(row, { nil: undefined }),
      (rows, limit, descending, after) => {
        const page: ListPage = { limit, sort: 'value', descending, after };
        const sign = descending ? -1 : 1;
        const order = (one: (typeof rows)[0], other: (typeof rows)[0]): number =>
          sign * (one.value - other.value || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0));
        const expected = rows.toSorted(order).filter((one) => after === undefined || order(one, after) > 0);
        expect(firstOf(rows, page, ({ value }) => value)).toEqual(expected.slice(0, limit));
      },
    ),
  );
});
