import { expect, test } from 'vitest';
import { ianaTimeZone } from '../../server/platform/core/time-zone.ts';

test.each([
  ['Europe/Madrid', 'Europe/Madrid'],
  ['europe/madrid', 'Europe/Madrid'],
  ['utc', 'UTC'],
  // The engine still calls it Asia/Calcutta.
  ['Asia/Kolkata', 'Asia/Kolkata'],
])('%s is %s', (name, zone) => {
  expect(ianaTimeZone(name)).toBe(zone);
});

test.each(['', 'Mars/Olympus', '+01:00', '-05', 'Europe/Madrid ', 'Europe'])('%j is no time zone', (name) => {
  expect(ianaTimeZone(name)).toBeUndefined();
});
