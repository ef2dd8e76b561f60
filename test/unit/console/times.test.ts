import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import {
  cityOf,
  clockTime,
  dueTime,
  isOtherTime,
  isTimeZone,
  offsetAt,
  sharedTimes,
  shortTime,
  showTimesIn,
  timeAmong,
} from '../../../console/src/parts/times.ts';
import { ticksOf } from '../../../console/src/rails/geometry.ts';

const HOUR_MS = 3_600_000;
const now = Date.parse('2031-05-01T12:00:00Z');
const at = (hours: number): string => shortTime(new Date(now + hours * HOUR_MS).toISOString(), now);

describe('a short time', () => {
  it('is an hour of today, yesterday or tomorrow only within a day', () => {
    for (const hours of [-23, 0, 23]) expect(at(hours)).toMatch(/^\d\d:\d\d$/);
  });

  it.each([-25, 25, -5 * 24, 5 * 24])('has its day further away, before or after now (%i h)', (hours) => {
    expect(at(hours)).toMatch(/^[A-Z][a-z]{2}\W+\d\d:\d\d$/);
  });

  it.each([-7 * 24, 7 * 24])('is a date from a week on, before or after now (%i h)', (hours) => {
    expect(at(hours)).toMatch(/^(Apr 24|24 Apr|May 8|8 May)$/);
  });
});

test('a moment that is waited for has its time of day, however far it is', () => {
  const due = (hours: number): string => dueTime(new Date(now + hours * HOUR_MS).toISOString(), now);
  expect(due(23)).toMatch(/^\d\d:\d\d$/);
  expect(due(5 * 24)).toMatch(/^[A-Z][a-z]{2}\W+\d\d:\d\d$/);
  expect(due(7 * 24)).toMatch(/^(May 8|8 May)\W+\d\d:\d\d$/);
});

describe('a time among others', () => {
  beforeEach(() => showTimesIn('UTC'));
  afterEach(() => showTimesIn(undefined));

  const iso = (secondsAgo: number): string => new Date(now - secondsAgo * 1000).toISOString();
  const listed = (...moments: string[]): string[] => {
    const shared = sharedTimes(moments, now);
    return moments.map((moment) => timeAmong(shared, moment, now));
  };

  it('has its seconds where another one has the same minute, so that the order can be seen', () => {
    expect(listed(iso(65), iso(95), iso(130))).toEqual(['11:58:55', '11:58:25', '11:57']);
  });

  it('has its time of day where another one is of the same day, long ago', () => {
    expect(listed('2031-02-03T08:30:09Z', '2031-02-03T02:30:00Z')).toEqual([
      expect.stringMatching(/3.*08:30:09$|Feb 3.*08:30:09$/),
      expect.stringMatching(/02:30:00$/),
    ]);
  });
});

describe('the zone of times', () => {
  afterEach(() => showTimesIn(undefined));

  it('is the one that the person has chosen', () => {
    showTimesIn('UTC');
    expect([clockTime(now), offsetAt(now)]).toEqual(['12:00', 0]);
    showTimesIn('Asia/Kathmandu');
    expect([clockTime(now), offsetAt(now)]).toEqual(['17:45', 5.75 * HOUR_MS]);
    showTimesIn('America/New_York');
    expect([clockTime(now), offsetAt(now)]).toEqual(['08:00', -4 * HOUR_MS]);
  });

  it('has its own midnights on an axis, also where clocks change', () => {
    showTimesIn('Europe/Berlin');
    // The night to 30 March 2031: a day of 23 hours.
    const from = Date.parse('2031-03-28T12:00:00Z');
    const days = ticksOf({ from, to: from + 3 * 24 * HOUR_MS }, 300, 90).filter(({ isDay }) => isDay);
    expect(days.map(({ at: moment }) => new Date(moment).toISOString())).toEqual([
      '2031-03-28T23:00:00.000Z',
      '2031-03-29T23:00:00.000Z',
      '2031-03-30T22:00:00.000Z',
    ]);
  });

  it('is named beside a text in another one, where clocks differ at that moment', () => {
    showTimesIn('Europe/London');
    const [winter, summer] = ['2031-01-05T12:00:00Z', '2031-07-05T12:00:00Z'];
    expect([isOtherTime('UTC', winter), isOtherTime('UTC', summer)]).toEqual([false, true]);
    expect([isOtherTime('Europe/Lisbon', summer), isOtherTime('Europe/Atlantis', winter)]).toEqual([false, true]);
    // The same time of another day.
    showTimesIn('Pacific/Kiritimati');
    expect(isOtherTime('Pacific/Honolulu', winter)).toBe(true);
    expect([cityOf('America/New_York'), cityOf('UTC')]).toEqual(['New York', 'UTC']);
  });

  it('is known to the browser or refused', () => {
    expect([isTimeZone('Europe/Riga'), isTimeZone('Europe/Atlantis')]).toEqual([true, false]);
  });
});
