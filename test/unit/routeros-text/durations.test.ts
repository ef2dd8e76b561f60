import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, formatTime, parseDuration } from '../../../routeros-text/durations.ts';
import { formatClock, formatDuration as printedByRouter, parseDuration as readByRouter } from '../../simulator/formats.ts';

describe('a duration', () => {
  test.each([
    ['1w3d15h41m57s', 604_800 + 3 * 86_400 + 15 * 3600 + 41 * 60 + 57],
    ['1w3d15:41:57', 604_800 + 3 * 86_400 + 15 * 3600 + 41 * 60 + 57],
    ['6w5d11h55m45s', 6 * 604_800 + 5 * 86_400 + 11 * 3600 + 55 * 60 + 45],
    ['5w3d20m51s', 5 * 604_800 + 3 * 86_400 + 20 * 60 + 51],
    ['29m4s', 1744],
    ['500ms', 0.5],
    ['1m500ms', 60.5],
    ['00:00:00.500', 0.5],
    ['14:40:26', 52_826],
    ['0s', 0],
    ['never', undefined],
    ['', undefined],
    ['1x', undefined],
    ['1w nonsense', undefined],
    ['1:02', undefined],
  ])('%s', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  const seconds = fc.integer({ min: 0, max: 100 * 365 * 86_400 });

  test('is read as a router prints it, in either form', () => {
    fc.assert(
      fc.property(seconds, (each) => {
        expect(parseDuration(printedByRouter(each * 1000))).toBe(each);
        expect(parseDuration(formatClock(each * 1000))).toBe(each);
      }),
    );
  });

  test('is read by a router as it is written here, in either form', () => {
    fc.assert(
      fc.property(seconds, (each) => {
        expect(readByRouter(formatDuration(each))).toBe(each * 1000);
        expect(readByRouter(formatTime(each))).toBe(each * 1000);
      }),
    );
  });

  test.each([
    [0, '0s', '00:00:00'],
    [59.9, '59s', '00:00:59'],
    [86_400, '1d', '1d00:00:00'],
    [934_917, '1w3d19h41m57s', '10d19:41:57'],
  ])('%d seconds are written %s and %s', (each, duration, time) => {
    expect(formatDuration(each)).toBe(duration);
    expect(formatTime(each)).toBe(time);
  });
});
