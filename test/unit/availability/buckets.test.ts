import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketsOf, usualBeginning } from '../../../server/fleet/availability/buckets.ts';
import { BUCKET_SIZES } from '../../../server/fleet/availability/types.ts';
import type { BucketSize } from '../../../server/fleet/availability/types.ts';
import { LocalDays, mondayOf } from '../../../server/platform/core/local-days.ts';

const HOUR = 3_600_000;
const MANY = 10_000;

/** The beginnings of the buckets, and their hours. */
function cut(from: string, to: string, size: BucketSize, zone: string): [string, number][] {
  const spans = bucketsOf({ from: Date.parse(from), to: Date.parse(to) }, size, zone, MANY)!;
  return spans.map((span) => [new Date(span.from).toISOString().replace(':00.000Z', 'Z'), (span.to - span.from) / HOUR]);
}

describe('days', () => {
  test('have 24 hours where the clocks never change', () => {
    expect(cut('2026-03-28T00:00Z', '2026-03-30T00:00Z', 'day', 'UTC')).toEqual([
      ['2026-03-28T00:00Z', 24],
      ['2026-03-29T00:00Z', 24],
    ]);
  });

  test('have 23 hours when the clocks go forward', () => {
    expect(cut('2026-03-27T23:00Z', '2026-03-30T22:00Z', 'day', 'Europe/Berlin')).toEqual([
      ['2026-03-27T23:00Z', 24],
      ['2026-03-28T23:00Z', 23],
      ['2026-03-29T22:00Z', 24],
    ]);
  });

  test('have 25 hours when the clocks go back', () => {
    expect(cut('2026-10-23T22:00Z', '2026-10-26T23:00Z', 'day', 'Europe/Berlin')).toEqual([
      ['2026-10-23T22:00Z', 24],
      ['2026-10-24T22:00Z', 25],
      ['2026-10-25T23:00Z', 24],
    ]);
  });

  test('begin with the jump where midnight is skipped', () => {
    // In Santiago the clocks went from 2025-09-06 24:00 to 2025-09-07 01:00.
    expect(cut('2025-09-06T04:00Z', '2025-09-08T03:00Z', 'day', 'America/Santiago')).toEqual([
      ['2025-09-06T04:00Z', 24],
      ['2025-09-07T04:00Z', 23],
    ]);
  });

  test('begin at the first of two midnights', () => {
    // In Havana the clocks went from 2025-11-02 01:00 back to 00:00.
    expect(cut('2025-11-01T04:00Z', '2025-11-03T05:00Z', 'day', 'America/Havana')).toEqual([
      ['2025-11-01T04:00Z', 24],
      ['2025-11-02T04:00Z', 25],
    ]);
  });

  test('are left out where a zone left one out', () => {
    // Samoa went from the 29th to the 31st of December 2011.
    expect(cut('2011-12-29T10:00Z', '2011-12-31T10:00Z', 'day', 'Pacific/Apia')).toEqual([
      ['2011-12-29T10:00Z', 24],
      ['2011-12-30T10:00Z', 24],
    ]);
  });
});

test('a week begins on Monday, and has 169 hours when the clocks go back', () => {
  expect(cut('2026-10-18T22:00Z', '2026-11-01T23:00Z', 'week', 'Europe/Berlin')).toEqual([
    ['2026-10-18T22:00Z', 169],
    ['2026-10-25T23:00Z', 168],
  ]);
});

test('hours begin at the full hour of the zone and always have 3,600 s', () => {
  expect(cut('2026-01-01T00:00Z', '2026-01-01T02:00Z', 'hour', 'Asia/Kathmandu')).toEqual([
    ['2026-01-01T00:00Z', 0.25],
    ['2026-01-01T00:15Z', 1],
    ['2026-01-01T01:15Z', 0.75],
  ]);
  expect(cut('2026-10-25T00:00Z', '2026-10-25T02:00Z', 'hour', 'Europe/Berlin')).toEqual([
    ['2026-10-25T00:00Z', 1],
    ['2026-10-25T01:00Z', 1],
  ]);
});

test('the first and the last are cut where the time begins and ends', () => {
  expect(cut('2026-01-01T06:00Z', '2026-01-02T12:00Z', 'day', 'UTC')).toEqual([
    ['2026-01-01T06:00Z', 18],
    ['2026-01-02T00:00Z', 12],
  ]);
});

test('no more than asked for are made', () => {
  const year = { from: Date.parse('2025-01-01T00:00Z'), to: Date.parse('2026-01-01T00:00Z') };
  expect(bucketsOf(year, 'day', 'UTC', 365)).toHaveLength(365);
  expect(bucketsOf(year, 'day', 'UTC', 364)).toBeUndefined();
  expect(bucketsOf({ from: Date.parse('0001-01-01T00:00Z'), to: year.to }, 'hour', 'Europe/Berlin', 1000)).toBeUndefined();
});

test.each([
  ['hour', 24],
  ['day', 28],
  ['week', 13],
] as const)('without a beginning there are whole buckets by the %s, %i with the present one', (size, count) => {
  const to = Date.parse('2026-11-03T13:27Z');
  const from = usualBeginning(to, size, 'Europe/Berlin');
  expect(bucketsOf({ from, to }, size, 'Europe/Berlin', MANY)).toHaveLength(count);
  expect(bucketsOf({ from: from - 1, to }, size, 'Europe/Berlin', MANY)).toHaveLength(count + 1);
});

const ZONES = ['UTC', 'Europe/Berlin', 'America/Santiago', 'America/Havana', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Africa/Casablanca'];
const moment = fc.integer({ min: Date.parse('2005-01-01T00:00Z'), max: Date.parse('2040-01-01T00:00Z') });

test('property: buckets follow each other from the beginning to the end', () => {
  fc.assert(
    fc.property(
      moment,
      fc.integer({ min: 1, max: 60 * 24 * HOUR }),
      fc.constantFrom(...BUCKET_SIZES),
      fc.constantFrom(...ZONES),
      (from, length, size, zone) => {
        const spans = bucketsOf({ from, to: from + length }, size, zone, MANY)!;
        expect(spans[0]!.from).toBe(from);
        expect(spans.at(-1)!.to).toBe(from + length);
        for (const [index, span] of spans.entries()) {
          expect(span.to).toBeGreaterThan(span.from);
          if (index > 0) expect(span.from).toBe(spans[index - 1]!.to);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('property: a day begins when its date appears on the wall', () => {
  fc.assert(
    fc.property(moment, fc.constantFrom(...ZONES), (at, zone) => {
      const days = new LocalDays(zone);
      const date = days.dateAt(at);
      const start = days.startOf(date);
      expect(start).toBeLessThanOrEqual(at);
      expect(days.dateAt(start)).toBe(date);
      expect(days.dateAt(start - 1)).toBeLessThan(date);
      expect(days.startOf(date + 1)).toBeGreaterThan(at);
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['1970-01-01', '1969-12-29'],
  ['1969-12-28', '1969-12-22'],
  ['2026-11-02', '2026-11-02'],
  ['2026-11-08', '2026-11-02'],
])('the week of %s begins on %s', (date, monday) => {
  const number = (text: string) => Date.parse(text) / (24 * HOUR);
  expect(mondayOf(number(date))).toBe(number(monday));
});
