import { expect, test } from 'vitest';
import { inFewSizes } from '../../../server/platform/core/few-sizes.ts';
import { padded } from '../../../server/platform/storage/padded.ts';

const rows = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test('rows come in few sizes, all of them, and in their order', () => {
  const sizes = new Set<number>();
  for (let count = 0; count <= 1200; count += 1) {
    const pieces = inFewSizes(rows(count), 500);
    expect(pieces.flat()).toEqual(rows(count));
    for (const { length } of pieces) sizes.add(length);
  }
  expect(Math.max(...sizes)).toBe(500);
  expect(sizes.size).toBeLessThanOrEqual(21);
});

test('lists are padded to a power of two with their last value', () => {
  expect(padded(['a'])).toEqual(['a']);
  expect(padded(['a', 'b', 'c'])).toEqual(['a', 'b', 'c', 'c']);
  expect(padded(rows(100))).toHaveLength(128);
  expect(padded([])).toEqual([]);
});
