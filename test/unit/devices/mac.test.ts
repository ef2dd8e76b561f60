import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLocallyAdministered, macFragment, normaliseMac } from '../../../server/fleet/devices/mac.ts';

describe('common spellings of a MAC address', () => {
  test.each([
    '4C:5E:0C:aa:BB:01',
    '4c-5e-0c-aa-bb-01',
    '4c5e.0caa.bb01',
    '4c5e-0caa-bb01',
    '4C5E0CAABB01',
    '4c5e0c:aabb01',
    '4c5e0c-aabb01',
    '4c 5e 0c aa bb 01',
    '4c.5e.0c.aa.bb.01',
    ' 4C5E0CAABB01 ',
    '0x4c5e0caabb01',
  ])('%j', (spelling) => {
    expect(normaliseMac(spelling)).toBe('4C:5E:0C:AA:BB:01');
  });

  test.each([
    '',
    '4C:5E:0C:AA:BB',
    '4C:5E:0C:AA:BB:01:02',
    '4C:5E-0C:AA:BB:01',
    '4C5E0CAABB0',
    '4C:5E:0C:AA:BB:0G',
    '::::::',
    '4:5e:c:aa:bb:1',
  ])('not %j', (text) => {
    expect(normaliseMac(text)).toBeUndefined();
  });

  test('every address is normalised to the same text with any separators and case', () => {
    const mac = fc
      .array(fc.integer({ min: 0, max: 255 }), { minLength: 6, maxLength: 6 })
      .map((bytes) => bytes.map((byte) => byte.toString(16).padStart(2, '0')));
    fc.assert(
      fc.property(mac, fc.constantFrom(':', '-', '.', ' ', ''), fc.boolean(), (pairs, separator, upper) => {
        const text = pairs.join(separator);
        expect(normaliseMac(upper ? text.toUpperCase() : text)).toBe(pairs.join(':').toUpperCase());
      }),
    );
  });
});

test.each([
  ['4c5e', '4C:5E'],
  ['5E:0C:a', '5E:0C:A'],
  ['4c-5e-0c-aa-bb-01', '4C:5E:0C:AA:BB:01'],
  ['4c', undefined],
  ['cafe', 'CA:FE'],
  ['printer', undefined],
  ['192.168.88.10', undefined],
])('searching for %j looks for %j', (text, fragment) => {
  expect(macFragment(text)).toBe(fragment);
});

test.each([
  ['4C:5E:0C:00:00:00', false],
  ['02:00:00:00:00:00', true],
  ['DE:6E:70:C0:CC:B2', true],
  ['C4:AD:34:00:00:00', false],
])('%s is locally administered: %s', (mac, local) => {
  expect(isLocallyAdministered(mac)).toBe(local);
});
