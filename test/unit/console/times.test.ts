import { describe, expect, it } from 'vitest';
import { shortTime } from '../../../console/src/parts/times.ts';

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
