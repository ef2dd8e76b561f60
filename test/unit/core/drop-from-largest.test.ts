import { expect, it } from 'vitest';
import { dropFromLargest } from '../../../server/platform/core/drop-from-largest.ts';

const partyOf = (item: string): string => item[0]!;

it('drops the oldest items of the party that has the most, and keeps the order of the rest', () => {
  expect(dropFromLargest(['a1', 'b1', 'a2', 'b2', 'a3'], partyOf, 2)).toEqual(['b1', 'b2', 'a3']);
});

it('drops no more than that party has', () => {
  expect(dropFromLargest(['a1', 'a2', 'b1'], partyOf, 5)).toEqual(['b1']);
  expect(dropFromLargest([], partyOf, 5)).toEqual([]);
});
