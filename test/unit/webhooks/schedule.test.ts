import { describe, expect, test } from 'vitest';
import { nextAttemptAt, SCHEDULE_MS } from '../../../server/outbound/webhooks/schedule.ts';
import { readRetryAfter } from '../../../server/platform/outgoing/retry-after.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const SECOND = 1000;
const HOUR = 3600 * SECOND;

const after = (attempts: number, more: { retryAfter?: string; random?: number } = {}): number | undefined => {
  const at = nextAttemptAt({ attempts, now: NOW, retryAfter: more.retryAfter, random: more.random ?? 0.5 });
  return at === undefined ? undefined : at - NOW;
};

describe('the next attempt', () => {
  test.each([
    [1, 5 * SECOND],
    [2, 300 * SECOND],
    [3, 1800 * SECOND],
    [4, 2 * HOUR],
    [5, 5 * HOUR],
    [6, 10 * HOUR],
    [7, 14 * HOUR],
    [8, 20 * HOUR],
    [9, 24 * HOUR],
    [10, undefined],
  ])('after %d failed ones is in %s ms', (attempts, wait) => {
    expect(after(attempts)).toBe(wait);
  });

  test('ten attempts are spread over three days and three hours', () => {
    expect(SCHEDULE_MS).toHaveLength(10);
    expect(SCHEDULE_MS.reduce((sum, wait) => sum + wait, 0)).toBe(75 * HOUR + 2105 * SECOND);
  });

  test.each([
    [0, 270 * SECOND],
    [0.5, 300 * SECOND],
    [0.999999, 330 * SECOND],
  ])('is spread by a tenth either way: %d', (random, wait) => {
    expect(after(2, { random })).toBeCloseTo(wait, -2);
  });

  test.each([
    ['is not earlier than Retry-After', 1, '60', 60 * SECOND],
    ['is not earlier than the schedule', 3, '60', 1800 * SECOND],
    ['does not wait for ever', 1, '999999999', 24 * HOUR],
    ['is the last one, whatever Retry-After says', 10, '60', undefined],
  ])('%s', (_name, attempts, retryAfter, wait) => {
    expect(after(attempts, { retryAfter })).toBe(wait);
  });
});

describe('Retry-After', () => {
  test.each([
    ['120', 120 * SECOND],
    [' 0 ', 0],
    ['Fri, 20 Nov 2026 12:01:00 GMT', 60 * SECOND],
    ['Friday, 20-Nov-26 12:01:00 GMT', 60 * SECOND],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['Fri, 20 Nov 2099 11:00:00 GMT', 24 * HOUR],
    ['soon', 0],
    ['-1', 0],
    ['1e9', 0],
    ['', 0],
  ])('"%s" asks for %d ms', (header, wait) => {
    expect(readRetryAfter(header, NOW)).toBe(wait);
  });

  test('missing, it asks for nothing', () => {
    expect(readRetryAfter(undefined, NOW)).toBe(0);
  });
});
