import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isActive } from '../../../server/outbound/notifications/schedules/active.ts';
import { nextChange } from '../../../server/outbound/notifications/schedules/next-change.ts';
import { DAYS } from '../../../server/outbound/notifications/schedules/types.ts';
import type { Weekly } from '../../../server/outbound/notifications/schedules/types.ts';

const MINUTE = 60_000;
const office = (timeZone: string, from: string, to: string, day: Weekly['windows'][number]['day'] = 'monday'): Weekly => {
  const minutes = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
  return { timeZone, windows: [{ day, from: minutes(from), to: minutes(to) }] };
};

describe('the next change of a schedule', () => {
  it.each([
    ['begins later today', office('UTC', '13:00', '14:00'), '2026-01-05T12:00:30Z', '2026-01-05T13:00:00.000Z'],
    ['ends', office('UTC', '13:00', '14:00'), '2026-01-05T13:59:59Z', '2026-01-05T14:00:00.000Z'],
    ['begins next week', office('UTC', '13:00', '14:00'), '2026-01-05T14:00:00Z', '2026-01-12T13:00:00.000Z'],
    ['ends after midnight', office('UTC', '22:00', '06:00'), '2026-01-05T23:00:00Z', '2026-01-06T06:00:00.000Z'],
    ['goes by local time', office('Europe/Madrid', '09:00', '18:00'), '2026-01-05T07:30:00Z', '2026-01-05T08:00:00.000Z'],
    // The hour from 02:00 to 03:00 is skipped on 29 March 2026.
    ['begins in a skipped hour', office('Europe/Madrid', '02:30', '04:00', 'sunday'), '2026-03-29T00:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['ends in a skipped hour', office('Europe/Madrid', '01:00', '02:30', 'sunday'), '2026-03-29T00:30:00Z', '2026-03-29T01:00:00.000Z'],
    // The hour from 02:00 to 03:00 comes twice on 25 October 2026.
    [
      'ends in a repeated hour, the first time',
      office('Europe/Madrid', '01:00', '02:30', 'sunday'),
      '2026-10-25T00:00:00Z',
      '2026-10-25T00:30:00.000Z',
    ],
    [
      'begins again in the repeated hour',
      office('Europe/Madrid', '01:00', '02:30', 'sunday'),
      '2026-10-25T00:30:00Z',
      '2026-10-25T01:00:00.000Z',
    ],
  ])('%s', (_what, schedule, now, next) => {
    expect(new Date(nextChange(schedule, Date.parse(now))!).toISOString()).toBe(next);
  });

  it('is none for a schedule that is never or always active', () => {
    expect(nextChange({ timeZone: 'UTC', windows: [] }, 0)).toBeNull();
    const always = { timeZone: 'Pacific/Auckland', windows: DAYS.map((day) => ({ day, from: 0, to: 1440 })) };
    expect(nextChange(always, Date.parse('2026-04-04T12:00:00Z'))).toBeNull();
  });

  const window = fc.record({
    day: fc.constantFrom(...DAYS),
    from: fc.integer({ min: 0, max: 1439 }),
    to: fc.integer({ min: 1, max: 1440 }),
  });
  const nights = ['2026-03-28T20:00:00Z', '2026-10-24T20:00:00Z', '2026-04-04T08:00:00Z', '2026-09-26T08:00:00Z', '2026-06-10T00:00:00Z'];

  it('is the first minute at which the state differs, also in the nights of a clock change', () => {
    const zones = fc.constantFrom('UTC', 'Europe/Madrid', 'Pacific/Auckland', 'Australia/Lord_Howe', 'Asia/Kolkata');
    fc.assert(
      fc.property(zones, fc.array(window, { maxLength: 3 }), fc.constantFrom(...nights), fc.nat(600), (timeZone, windows, night, late) => {
        const schedule = { timeZone, windows };
        const now = Date.parse(night) + late * MINUTE;
        const next = nextChange(schedule, now);
        const present = isActive(schedule, now);
        // Every minute of half a day, which has the clock change in it.
        for (let minute = 1; minute <= 12 * 60; minute += 1) {
          const at = now + minute * MINUTE;
          if (isActive(schedule, at) === present) continue;
          expect(next).toBe(at);
          return;
        }
        expect(next === null || next > now + 12 * 60 * MINUTE).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});
