import { describe, expect, test } from 'vitest';
import { Manufacturers } from '../../../server/fleet/devices/manufacturers.ts';
import { findManufacturer, packRegistry } from '../../../server/fleet/devices/oui-table.ts';

describe('the longest block that holds an address tells its manufacturer', () => {
  const registry = packRegistry({
    '70B3D5': 'IEEE Registration Authority\n445 Hoes Lane',
    '70B3D5123': 'Thirty-six bits',
    '70B3D5FFF': 'The last one',
    C85CE2: 'IEEE Registration Authority',
    C85CE27: 'Twenty-eight bits\nSomewhere',
    '4C5E0C': 'Müller & Söhne\nRiga',
    '00000A': 'Private',
  });
  test.each([
    ['70:B3:D5:12:3F:FF', 'Thirty-six bits'],
    ['70:B3:D5:FF:F0:00', 'The last one'],
    ['70:B3:D5:12:40:00', null],
    ['C8:5C:E2:7A:BC:DE', 'Twenty-eight bits'],
    ['C8:5C:E2:80:00:00', null],
    ['4C:5E:0C:FF:FF:FF', 'Müller & Söhne'],
    ['4C:5E:0D:00:00:00', null],
    ['00:00:0A:00:00:01', null],
  ])('%s: %s', (mac, name) => {
    expect(findManufacturer(registry, mac)).toBe(name);
  });
});

test('the IEEE registry finds the manufacturers of all three kinds of blocks, and null for unregistered addresses', async () => {
  const find = await new Manufacturers().lookup();
  expect(['4C:5E:0C:11:22:33', '70:B3:D5:12:30:00', 'C8:5C:E2:70:00:00', 'DE:6E:70:C0:CC:B2'].map(find)).toEqual([
    'Routerboard.com',
    'Amfitech ApS',
    'SYNERGY SYSTEMS AND SOLUTIONS',
    'Locally administered',
  ]);
});
