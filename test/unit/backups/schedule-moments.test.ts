import { describe, expect, test } from 'vitest';
import { lastMoment, nextMoment } from '../../../server/work/backups/schedules/moments.ts';

const at = (text: string): number => Date.parse(text);
const shown = (moment: number): string => new Date(moment).toISOString();
const HALF_PAST_TWO = 150;

describe('a local time', () => {
  test.each([
    ['Europe/Berlin', '2031-05-01T12:00:00Z', '2031-05-01T00:30:00.000Z', '2031-05-02T00:30:00.000Z'],
    ['Europe/Berlin', '2031-05-01T00:29:59Z', '2031-04-30T00:30:00.000Z', '2031-05-01T00:30:00.000Z'],
    ['Europe/Berlin', '2031-05-01T00:30:00Z', '2031-05-01T00:30:00.000Z', '2031-05-02T00:30:00.000Z'],
    ['UTC', '2031-05-01T12:00:00Z', '2031-05-01T02:30:00.000Z', '2031-05-02T02:30:00.000Z'],
    ['Asia/Kathmandu', '2031-05-01T12:00:00Z', '2031-04-30T20:45:00.000Z', '2031-05-01T20:45:00.000Z'],
    ['America/Los_Angeles', '2031-05-01T08:00:00Z', '2031-04-30T09:30:00.000Z', '2031-05-01T09:30:00.000Z'],
  ])('in %s at %s was last at %s and comes at %s', (zone, now, last, next) => {
    expect(shown(lastMoment(HALF_PAST_TWO, zone, at(now)))).toBe(last);
    expect(shown(nextMoment(HALF_PAST_TWO, zone, at(now)))).toBe(next);
  });

  test('that the clocks leave out comes as much later as they jump', () => {
    // On 30 March 2031 in Berlin, 02:00 is followed by 03:00.
    expect(shown(nextMoment(HALF_PAST_TWO, 'Europe/Berlin', at('2031-03-29T23:00:00Z')))).toBe('2031-03-30T01:30:00.000Z');
    expect(shown(nextMoment(HALF_PAST_TWO, 'Europe/Berlin', at('2031-03-30T01:30:00Z')))).toBe('2031-03-31T00:30:00.000Z');
  });

  test('that comes twice counts the first time only', () => {
    // On 26 October 2031 in Berlin, 03:00 is followed by 02:00.
    expect(shown(nextMoment(HALF_PAST_TWO, 'Europe/Berlin', at('2031-10-25T23:00:00Z')))).toBe('2031-10-26T00:30:00.000Z');
    expect(shown(lastMoment(HALF_PAST_TWO, 'Europe/Berlin', at('2031-10-26T01:45:00Z')))).toBe('2031-10-26T00:30:00.000Z');
    expect(shown(nextMoment(HALF_PAST_TWO, 'Europe/Berlin', at('2031-10-26T00:30:00Z')))).toBe('2031-10-27T01:30:00.000Z');
  });

  test('comes once a day for a year, never twice within 22 hours', () => {
    for (const zone of ['Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Pacific/Apia']) {
      let now = at('2031-01-01T00:00:00Z');
      const moments = Array.from({ length: 365 }, () => (now = nextMoment(HALF_PAST_TWO, zone, now)));
      const gaps = moments.slice(1).map((moment, index) => (moment - moments[index]!) / 3_600_000);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(22);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(26);
      for (const moment of moments) expect(lastMoment(HALF_PAST_TWO, zone, moment)).toBe(moment);
    }
  });
});
