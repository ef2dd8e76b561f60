import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { nextDigestAt } from '../../../server/outbound/notifications/contacts/digest-time.ts';
import { LocalDays } from '../../../server/platform/core/local-days.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The next ones after a time, as UTC. */
function next(choice: { every: 'hourly' | 'daily'; at: number }, timeZone: string, after: string, count: number): string[] {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) times.push(nextDigestAt({ ...choice, timeZone }, times.at(-1) ?? Date.parse(after)));
  return times.map((at) => new Date(at).toISOString().slice(0, 16));
}
const daily = (hours: number, minutes = 0) => ({ every: 'daily' as const, at: hours * 60 + minutes });
const hourly = { every: 'hourly' as const, at: 0 };

describe('the next digest', () => {
  it.each([
    ['today, if its time is to come', daily(8), 'UTC', '2026-01-05T07:59:59Z', ['2026-01-05T08:00', '2026-01-06T08:00']],
    ['tomorrow, at its time', daily(8), 'UTC', '2026-01-05T08:00:00Z', ['2026-01-06T08:00']],
    ['by the clock of the person', daily(8), 'Pacific/Auckland', '2026-01-05T12:00:00Z', ['2026-01-05T19:00', '2026-01-06T19:00']],
    ['at midnight', daily(0), 'Europe/Madrid', '2026-01-05T12:00:00Z', ['2026-01-05T23:00']],
    // 2:00 becomes 3:00 on 29 March, and 3:00 becomes 2:00 on 25 October.
    ['over the night without an hour', daily(8), 'Europe/Madrid', '2026-03-28T12:00:00Z', ['2026-03-29T06:00', '2026-03-30T06:00']],
    ['in the hour that is left out', daily(2, 30), 'Europe/Madrid', '2026-03-28T12:00:00Z', ['2026-03-29T01:00', '2026-03-30T00:30']],
    ['over the night with an hour more', daily(8), 'Europe/Madrid', '2026-10-24T12:00:00Z', ['2026-10-25T07:00', '2026-10-26T07:00']],
    ['once in the hour that comes twice', daily(2, 30), 'Europe/Madrid', '2026-10-24T12:00:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
    ['once, after its first time', daily(2, 30), 'Europe/Madrid', '2026-10-25T00:30:00Z', ['2026-10-26T01:30']],
    // Clocks change at midnight.
    ['in a midnight that is left out', daily(0, 30), 'Africa/Cairo', '2026-04-23T12:00:00Z', ['2026-04-23T22:00', '2026-04-24T21:30']],
    ['each hour', hourly, 'UTC', '2026-01-05T07:59:59Z', ['2026-01-05T08:00', '2026-01-05T09:00']],
    [
      'each hour of a zone that is half an hour off',
      hourly,
      'Asia/Kolkata',
      '2026-01-05T08:00:00Z',
      ['2026-01-05T08:30', '2026-01-05T09:30'],
    ],
    // Lord Howe: 2:00 becomes 2:30 on 4 October, and 2:00 becomes 1:30 on 5 April.
    [
      'each full hour where half an hour is left out',
      hourly,
      'Australia/Lord_Howe',
      '2026-10-03T14:31:00Z',
      ['2026-10-03T16:00', '2026-10-03T17:00'],
    ],
    [
      'each full hour where half an hour comes twice',
      hourly,
      'Australia/Lord_Howe',
      '2026-04-04T14:01:00Z',
      ['2026-04-04T15:30', '2026-04-04T16:30'],
    ],
  ])('comes %s', (_when, choice, zone, after, expected) => {
    expect(next(choice, zone, after, expected.length)).toEqual(expected);
  });

  it('comes once for each date, and each hour, in every zone', () => {
    const zones = [
      'UTC',
      'Europe/Madrid',
      'America/St_Johns',
      'Australia/Lord_Howe',
      'Africa/Cairo',
      'Pacific/Auckland',
      'America/Santiago',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 1439 }),
        fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 11, 31) }),
        (timeZone, at, after) => {
          const days = new LocalDays(timeZone);
          const one = nextDigestAt({ every: 'daily', at, timeZone }, after);
          const other = nextDigestAt({ every: 'daily', at, timeZone }, one);
          expect(one).toBeGreaterThan(after);
          expect(days.dateAt(other)).toBe(days.dateAt(one) + 1);
          expect(Math.abs(other - one - DAY)).toBeLessThanOrEqual(HOUR);
          const hour = nextDigestAt({ every: 'hourly', at, timeZone }, after);
          expect((hour + days.offsetAt(hour)) % HOUR).toBe(0);
          expect(hour - after).toBeGreaterThan(0);
          expect(hour - after).toBeLessThanOrEqual(1.5 * HOUR);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('a team in one time zone needs one format of it', () => {
    const formats = vi.spyOn(Intl, 'DateTimeFormat');
    const at = Date.parse('2026-01-05T12:00:00Z');
    for (let n = 0; n < 100; n += 1) nextDigestAt({ every: 'daily', at: 480, timeZone: 'Pacific/Fakaofo' }, at + n);
    expect(formats.mock.calls.length).toBeLessThanOrEqual(1);
    formats.mockRestore();
  });
});
