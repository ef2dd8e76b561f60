import { describe, expect, test } from 'vitest';
import { dateFor, dateLike, parseClock } from '../../../routeros-text/clock.ts';

describe("a router's clock", () => {
  test.each<[string | undefined, string | undefined, string | undefined, string | undefined]>([
    ['nov/20/2026', '12:00:05', '+00:00', '2026-11-20T12:00:05Z'],
    ['Nov/20/2026', '12:00:05', '+00:00', '2026-11-20T12:00:05Z'],
    ['2026-11-20', '14:00:05', '+02:00', '2026-11-20T12:00:05Z'],
    ['2026-11-20', '06:30:05', '-05:30', '2026-11-20T12:00:05Z'],
    ['2026-11-20', '17:45:05', '+5:45', '2026-11-20T12:00:05Z'],
    ['2026-11-20', '14:00:05', '02:00', '2026-11-20T12:00:05Z'],
    ['2026-11-20', '12:00:35', '+00:00:30', '2026-11-20T12:00:05Z'],
    ['2026-11-20', '12:00:05', undefined, '2026-11-20T12:00:05Z'],
    ['2026-11-20', '12:00:05', '', '2026-11-20T12:00:05Z'],
    ['jan/02/1970', '00:00:10', '+00:00', '1970-01-02T00:00:10Z'],
    ['2028-02-29', '23:59:59', '+00:00', '2028-02-29T23:59:59Z'],
    // An offset that cannot be parsed is not treated as UTC.
    ['2026-11-20', '12:00:05', 'unknown', undefined],
    ['2026-11-20', '12:00:05', '+02:75', undefined],
    ['2026-11-20', '12:00:05', '+0200', undefined],
    // Impossible dates and times.
    ['2026-13-01', '10:00:00', '', undefined],
    ['2026-02-30', '10:00:00', '', undefined],
    ['feb/31/2026', '10:00:00', '', undefined],
    ['foo/01/2026', '10:00:00', '', undefined],
    ['2026-11-20', '25:00:00', '', undefined],
    ['2026-11-20', '10:99:00', '', undefined],
    ['2026-11-20', '10:00:75', '', undefined],
    ['2026-11-20', '12:00', '', undefined],
    ['20.11.2026', '12:00:05', '', undefined],
    ['yesterday', '10:00:47', '+00:00', undefined],
    [undefined, undefined, undefined, undefined],
  ])('%s %s %s is %s', (date, time, offset, moment) => {
    expect(parseClock({ date, time, 'gmt-offset': offset })).toBe(moment === undefined ? undefined : Date.parse(moment));
  });
});

test.each([
  ['6.49.10', 'jan/01/1970'],
  ['7.9.2', 'jan/01/1970'],
  ['7.10', '1970-01-01'],
  ['7.10beta5', '1970-01-01'],
  ['7.24_ab55', '1970-01-01'],
])('RouterOS %s takes the date %s', (version, date) => {
  expect(dateFor(version, '1970-01-01')).toBe(date);
});

test('a date takes the form of one that the router shows', () => {
  expect(dateLike('nov/20/2026', '2037-12-31')).toBe('dec/31/2037');
  expect(dateLike('2026-11-20', '2037-12-31')).toBe('2037-12-31');
  expect(dateLike(undefined, '2037-12-31')).toBe('2037-12-31');
});
