import { expect, test } from 'vitest';
import { quietUntil } from '../../../server/outbound/notifications/contacts/quiet-hours.ts';

const night = { from: 22 * 60, to: 7 * 60, criticalBreaksThrough: true };
const until = (hours: { from: number; to: number }, zone: string, now: string): string | null => {
  const end = quietUntil({ ...hours, criticalBreaksThrough: true }, zone, Date.parse(now));
  return end === null ? null : new Date(end).toISOString();
};

test.each([
  ['Europe/Madrid', '2026-01-05T20:59:59Z', null],
  ['Europe/Madrid', '2026-01-05T21:00:00Z', '2026-01-06T06:00:00.000Z'],
  ['Europe/Madrid', '2026-01-06T05:59:59Z', '2026-01-06T06:00:00.000Z'],
  ['Europe/Madrid', '2026-01-06T06:00:00Z', null],
  // 13 hours ahead of UTC in summer.
  ['Pacific/Auckland', '2026-01-05T08:59:00Z', null],
  ['Pacific/Auckland', '2026-01-05T09:00:30Z', '2026-01-05T18:00:00.000Z'],
  // The clocks of Madrid go forward at 01:00 UTC, and back on 25 October.
  ['Europe/Madrid', '2026-03-28T21:30:00Z', '2026-03-29T05:00:00.000Z'],
  ['Europe/Madrid', '2026-10-24T20:30:00Z', '2026-10-25T06:00:00.000Z'],
  ['Asia/Kathmandu', '2026-01-05T17:00:00Z', '2026-01-06T01:15:00.000Z'],
])('22:00 to 07:00 in %s at %s lasts until %s', (zone, now, end) => {
  expect(until(night, zone, now)).toBe(end);
});

test('an end that the clocks skip is the moment of the jump', () => {
  expect(until({ from: 22 * 60, to: 2 * 60 + 30 }, 'Europe/Madrid', '2026-03-28T22:00:00Z')).toBe('2026-03-29T01:00:00.000Z');
});

test('an end that comes twice is the first one', () => {
  expect(until({ from: 22 * 60, to: 2 * 60 + 30 }, 'Europe/Madrid', '2026-10-24T22:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
});

test('hours within one day', () => {
  expect(until({ from: 12 * 60, to: 14 * 60 }, 'UTC', '2026-01-05T13:00:00Z')).toBe('2026-01-05T14:00:00.000Z');
  expect(until({ from: 12 * 60, to: 14 * 60 }, 'UTC', '2026-01-05T14:00:00Z')).toBeNull();
});
