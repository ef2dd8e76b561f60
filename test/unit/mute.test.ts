import { describe, expect, test } from 'vitest';
import { isMuted } from '../../server/outbound/notifications/groups/mute.ts';
import { isActive } from '../../server/outbound/notifications/schedules/active.ts';
import type { Day, Weekly } from '../../server/outbound/notifications/schedules/types.ts';

const hour = 60;
const weekly = (timeZone: string, ...windows: [Day, number, number][]): Weekly => ({
  timeZone,
  windows: windows.map(([day, from, to]) => ({ day, from, to })),
});
const at = (moment: string): number => Date.parse(moment);

describe('a schedule is active', () => {
  const office = weekly('Europe/Madrid', ['monday', 9 * hour, 17 * hour], ['tuesday', 9 * hour, 17 * hour]);
  const nights = weekly('Europe/Madrid', ['saturday', 22 * hour, 6 * hour]);
  const wholeDay = weekly('UTC', ['wednesday', 0, 1440]);
  const aroundTheClock = weekly('UTC', ['monday', 8 * hour, 8 * hour]);

  test.each([
    // 2026-01-05 is a Monday; Madrid is at UTC+1 in winter and UTC+2 in summer.
    ['from its first minute', office, '2026-01-05T08:00:00Z', true],
    ['until before its last', office, '2026-01-05T15:59:59.999Z', true],
    ['not before', office, '2026-01-05T07:59:59.999Z', false],
    ['not at its end', office, '2026-01-05T16:00:00Z', false],
    ['by the summer clock in summer', office, '2026-07-06T07:00:00Z', true],
    ['not by the winter clock in summer', office, '2026-07-06T15:30:00Z', false],
    ['on another day of its own', office, '2026-01-06T12:00:00Z', true],
    ['not on other days', office, '2026-01-07T12:00:00Z', false],
    ['over midnight in the evening', nights, '2026-01-10T21:00:00Z', true],
    ['over midnight in the morning after', nights, '2026-01-11T04:59:00Z', true],
    ['not in the morning before', nights, '2026-01-10T04:59:00Z', false],
    ['not after the night', nights, '2026-01-11T05:00:00Z', false],
    ['not in the next evening', nights, '2026-01-11T21:30:00Z', false],
    ['for a whole day', wholeDay, '2026-01-07T00:00:00Z', true],
    ['to the end of a whole day', wholeDay, '2026-01-07T23:59:59Z', true],
    ['and not on the day after', wholeDay, '2026-01-08T00:00:00Z', false],
    ['for 24 hours', aroundTheClock, '2026-01-06T07:59:00Z', true],
    ['and no longer', aroundTheClock, '2026-01-06T08:00:00Z', false],
    ['never without windows', weekly('UTC'), '2026-01-05T12:00:00Z', false],
  ])('%s', (_when, schedule, moment, active) => {
    expect(isActive(schedule, at(moment))).toBe(active);
  });

  test.each([
    // The day depends on where the clock hangs: Sunday 23:30 UTC.
    ['Pacific/Kiritimati', 'monday', true],
    ['Asia/Kathmandu', 'monday', true],
    ['Pacific/Pago_Pago', 'sunday', true],
    ['UTC', 'sunday', true],
    ['UTC', 'monday', false],
  ] as const)('by the wall clock of %s on %s: %s', (zone, day, active) => {
    expect(isActive(weekly(zone, [day, 0, 1440]), at('2026-01-04T23:30:00Z'))).toBe(active);
  });

  test('quarter hours of time zones count', () => {
    // Kathmandu is at UTC+5:45.
    const schedule = weekly('Asia/Kathmandu', ['monday', 9 * hour, 10 * hour]);
    expect(isActive(schedule, at('2026-01-05T03:15:00Z'))).toBe(true);
    expect(isActive(schedule, at('2026-01-05T03:14:59Z'))).toBe(false);
  });

  describe('when clocks change', () => {
    // Madrid: 2026-03-29 02:00 -> 03:00 (01:00 UTC), 2026-10-25 03:00 -> 02:00 (01:00 UTC); both Sundays.
    const skipped = weekly('Europe/Madrid', ['sunday', 2 * hour, 3 * hour]);
    const night = weekly('Europe/Madrid', ['saturday', 22 * hour, 4 * hour]);

    test('an hour that is skipped does not happen', () => {
      const moments = Array.from({ length: 24 * 60 }, (_, minute) => at('2026-03-28T23:00:00Z') + minute * 60_000);
      expect(moments.some((moment) => isActive(skipped, moment))).toBe(false);
      expect(isActive(skipped, at('2026-04-05T00:30:00Z'))).toBe(true);
    });

    test('an hour that is repeated happens twice', () => {
      const moments = Array.from({ length: 24 * 60 }, (_, minute) => at('2026-10-24T22:00:00Z') + minute * 60_000);
      expect(moments.filter((moment) => isActive(skipped, moment))).toHaveLength(120);
    });

    test.each([
      ['2026-03-28T12:00:00Z', 5],
      ['2026-10-24T12:00:00Z', 7],
      ['2026-01-03T12:00:00Z', 6],
    ])('the night after %s lasts %i hours', (noon, hours) => {
      const moments = Array.from({ length: 24 * 60 }, (_, minute) => at(noon) + minute * 60_000);
      expect(moments.filter((moment) => isActive(night, moment))).toHaveLength(hours * 60);
    });
  });
});

describe('a group is muted', () => {
  const office = weekly('UTC', ['monday', 9 * hour, 17 * hour]);
  const duringOffice = at('2026-01-05T12:00:00Z');
  const afterOffice = at('2026-01-05T18:00:00Z');

  test.each([
    ['never', office, duringOffice, false],
    ['never', office, afterOffice, false],
    ['always', office, duringOffice, true],
    ['always', null, afterOffice, true],
    // Historic name: the schedule says when the group is active.
    ['schedule-active', office, duringOffice, false],
    ['schedule-active', office, afterOffice, true],
    ['schedule-inactive', office, duringOffice, true],
    ['schedule-inactive', office, afterOffice, false],
    ['schedule-active', null, duringOffice, false],
    ['schedule-inactive', null, duringOffice, false],
  ] as const)('%s with %j at %i: %s', (mute, schedule, now, muted) => {
    expect(isMuted(mute, schedule, now)).toBe(muted);
  });
});
