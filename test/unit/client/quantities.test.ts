import { expect, test } from 'vitest';
import { bytesText, durationText } from '../../../client/cli/quantities.ts';

test.each([
  [-5, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min'],
  [3_600_000, '1 h'],
  [12_000_000, '3 h 20 min'],
  [86_400_000, '1 d'],
  [446_400_000, '5 d 4 h'],
])('%i ms are %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [99_499, '99.5 kB'],
  [999_499, '999 kB'],
  [999_500, '1.0 MB'],
  [1_234_000_000, '1.2 GB'],
  [5e15, '5000 TB'],
])('%i bytes are %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});
