import { describe, expect, it } from 'vitest';
import { formatClock, formatDateTime, formatDuration, formatRecent, parseDate, parseDuration } from '../../simulator/formats.ts';
import { RouterVersion } from '../../simulator/version.ts';

const at = Date.UTC(2026, 10, 20, 14, 27, 1);

describe('dates', () => {
  it.each([
    ['6.49.18', 'nov/20/2026 14:27:01'],
    ['7.9.2', 'nov/20/2026 14:27:01'],
    ['7.10', '2026-11-20 14:27:01'],
    ['7.20.8', '2026-11-20 14:27:01'],
  ])('%s writes %s', (version, text) => {
    expect(formatDateTime(new RouterVersion(version), at)).toBe(text);
  });

  it('of the log are short on v6: a bare time today, day and time before', () => {
    const six = new RouterVersion('6.49.18');
    expect(formatRecent(six, at, at + 1000)).toBe('14:27:01');
    expect(formatRecent(six, at, at + 86_400_000)).toBe('nov/20 14:27:01');
    expect(formatRecent(new RouterVersion('7.18.2'), at, at)).toBe('2026-11-20 14:27:01');
  });

  it.each([
    ['2026-11-20', true],
    ['nov/20/2026', true],
    ['Nov/20/2026', true],
    ['2026-02-30', false],
    ['20.11.2026', false],
    ['', false],
  ])('%s is a date: %s', (text, isDate) => {
    expect(parseDate(text) !== undefined).toBe(isDate);
  });
});

describe('durations', () => {
  it.each<[string, number]>([
    ['1w3d15h41m57s', 920_517_000],
    ['29m4s', 1_744_000],
    ['5m', 300_000],
    ['5ms', 5],
    ['1s500ms', 1500],
    ['0s', 0],
  ])('%s reads and writes as itself', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
    expect(formatDuration(ms)).toBe(text);
  });

  it.each<[string, number | undefined]>([
    ['30', 30_000],
    ['00:10:00', 600_000],
    ['1d 02:03:04', 93_784_000],
    ['00:00:00.500', 500],
    ['never', undefined],
    ['', undefined],
    ['1x', undefined],
    ['99999999999999', undefined],
  ])('%s means %s ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it('can be written with colons, as v6 does for leases', () => {
    expect([formatClock(535_000), formatClock(920_517_000)]).toEqual(['00:08:55', '1w3d15:41:57']);
  });
});

describe('versions', () => {
  it('compare by number', () => {
    const version = new RouterVersion('7.18.2');
    expect([version.atLeast('7.9'), version.atLeast('7.18.2'), version.atLeast('7.18.3'), version.atLeast('6.49.18')]).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(version.within({ since: '7.13', until: '7.18.2' })).toBe(false);
    expect(() => new RouterVersion('seven')).toThrow(RangeError);
  });
});
