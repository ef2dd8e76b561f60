import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { buildDeviceTable, countDevices, countUnclean } from '../../../agent/telemetry/device-table.ts';
import { readPosition } from '../../../agent/telemetry/gps.ts';
import { readHealth, readResources } from '../../../agent/telemetry/health.ts';
import { parseClock } from '../../../routeros-text/clock.ts';
import { parseRecord, parseTerse } from '../../../agent/telemetry/terse.ts';
import type { RouterRow } from '../../../agent/routers/adapter.ts';

const arp = (address: string, mac: string, more: RouterRow = {}): RouterRow => ({
  address,
  'mac-address': mac,
  interface: 'bridge',
  complete: 'true',
  ...more,
});
const lease = (address: string, mac: string, more: RouterRow = {}): RouterRow => ({
  address,
  'mac-address': mac,
  status: 'bound',
  'active-address': address,
  'active-mac-address': mac,
  'last-seen': '1m5s',
  ...more,
});
const devices = (arpRows: RouterRow[], leases: RouterRow[] = []) => [...buildDeviceTable(arpRows, leases, 100).values()];
const A = 'AA:00:00:00:00:01';

describe('the devices of an ARP table and DHCP leases', () => {
  test.each<[string, RouterRow[], RouterRow[], object[]]>([
    ['an ARP entry', [arp('10.0.0.1', 'aa:00:00:00:00:01')], [], [{ mac: A, ip: '10.0.0.1', interface: 'bridge' }]],
    [
      'an entry with its lease',
      [arp('10.0.0.1', A)],
      [lease('10.0.0.1', A, { 'host-name': 'phone' })],
      [{ mac: A, ip: '10.0.0.1', interface: 'bridge', hostname: 'phone' }],
    ],
    [
      'a lease alone',
      [],
      [lease('10.0.0.1', A, { 'host-name': 'phone', 'last-seen': '12m' })],
      [{ mac: A, ip: '10.0.0.1', hostname: 'phone', seen_ago: 720 }],
    ],
    ['a lease that waits', [], [lease('10.0.0.1', A, { status: 'waiting', 'last-seen': 'never' })], []],
    ['a lease never used', [], [lease('10.0.0.1', A, { 'last-seen': 'never' })], []],
    ['a conflict', [], [{ address: '10.0.0.1', status: 'conflict', 'last-seen': '5m' }], []],
    ['an entry without an answer', [{ address: '10.0.0.9', interface: 'bridge', complete: 'false' }], [], []],
    ['v7: failed', [arp('10.0.0.1', A, { status: 'failed' })], [], []],
    ['v7: stale', [arp('10.0.0.1', A, { status: 'stale' })], [], [{ mac: A, ip: '10.0.0.1', interface: 'bridge' }]],
    ['disabled', [arp('10.0.0.1', A, { disabled: 'true' })], [], []],
    ['on an interface that is gone', [arp('10.0.0.1', A, { invalid: 'true' })], [], []],
    ['no real MAC address', [arp('10.0.0.1', '00:00:00:00:00:00'), arp('10.0.0.2', 'x')], [], []],
    [
      'several addresses: the lowest',
      [arp('10.0.0.10', A), arp('10.0.0.9', A), arp('10.0.0.100', A)],
      [],
      [{ mac: A, ip: '10.0.0.9', interface: 'bridge' }],
    ],
    [
      'several addresses: the leased',
      [arp('10.0.0.9', A), arp('10.0.0.10', A), arp('10.0.0.2', A)],
      [lease('10.0.0.10', A)],
      [{ mac: A, ip: '10.0.0.10', interface: 'bridge' }],
    ],
  ])('%s', (_what, arpRows, leases, expected) => {
    expect(devices(arpRows, leases)).toEqual(expected);
    // The order in which a router prints its entries is not a change.
    expect(devices(arpRows.toReversed(), leases)).toEqual(expected);
  });

  test('are limited in number', () => {
    const rows = Array.from({ length: 200 }, (_, index) =>
      arp('10.0.0.1', `AA:00:00:00:00:${(index + 16).toString(16)}`.slice(0, 17).toUpperCase()),
    );
    expect(devices(rows)).toHaveLength(100);
  });
});

describe('sensors', () => {
  test('are listed by v7', () => {
    const rows: RouterRow[] = [
      { '.id': '*D', name: 'voltage', value: '23.9', type: 'V' },
      { '.id': '*E', name: 'cpu-temperature', value: '42', type: 'C' },
      { '.id': '*F', name: 'fan1-speed', value: '3165', type: 'RPM' },
      { '.id': '*10', name: 'psu2-state', value: 'fail', type: '' },
    ];
    expect(readHealth(rows)).toEqual({
      temperatures: [{ name: 'cpu-temperature', celsius: 42 }],
      voltage: 23.9,
      states: [{ name: 'psu2-state', state: 'fail' }],
      fans: [{ name: 'fan1-speed', rpm: 3165 }],
      supplies: [],
    });
  });

  test('are one record in v6', () => {
    const record = {
      state: 'enabled',
      'state-after-reboot': 'enabled',
      voltage: '24.1',
      temperature: '-5C',
      'cpu-temperature': '55',
      'fan1-speed': '4000RPM',
      'fan-mode': 'auto',
      'psu1-voltage': '12.1V',
      'psu2-voltage': '0V',
      'psu1-state': 'ok',
      'power-consumption': '50.8W',
      'psu1-current': '5.2A',
    };
    expect(readHealth([record])).toEqual({
      temperatures: [
        { name: 'temperature', celsius: -5 },
        { name: 'cpu-temperature', celsius: 55 },
      ],
      voltage: 24.1,
      states: [{ name: 'psu1-state', state: 'ok' }],
      fans: [{ name: 'fan1-speed', rpm: 4000 }],
      supplies: [
        { name: 'psu1-voltage', volts: 12.1 },
        { name: 'psu2-voltage', volts: 0 },
      ],
    });
  });

  test('report the better of two power supplies, because one may be unplugged', () => {
    expect(
      readHealth([
        { name: 'psu1-voltage', value: '12.1', type: 'V' },
        { name: 'psu2-voltage', value: '0', type: 'V' },
      ]).voltage,
    ).toBe(12.1);
  });

  test.each<[string, RouterRow[]]>([
    ['no sensors', []],
    ['an empty record', [{}]],
    ['sensors that are not fitted', [{ temperature: '-128' }]],
  ])('%s', (_what, rows) => {
    expect(readHealth(rows)).toEqual({ temperatures: [], voltage: null, states: [], fans: [], supplies: [] });
  });
});

test('resources are plain numbers over the API and have units on the console', () => {
  const expected = {
    cpu_load: 2,
    free_memory: 42_152_755,
    total_memory: 134_217_728,
    free_hdd: 1024,
    total_hdd: 16_777_216,
    bad_blocks: 1,
  };
  const api = {
    'cpu-load': '2',
    'free-memory': '42152755',
    'total-memory': '134217728',
    'free-hdd-space': '1024',
    'total-hdd-space': '16777216',
    'bad-blocks': '1',
  };
  const console = {
    'cpu-load': '2%',
    'free-memory': '40.2MiB',
    'total-memory': '128.0MiB',
    'free-hdd-space': '1024.0B',
    'total-hdd-space': '16.0MiB',
    'bad-blocks': '1%',
  };
  expect(readResources(api)).toEqual(expected);
  expect(readResources(console)).toEqual(expected);
  expect(readResources({})).toEqual({
    cpu_load: null,
    free_memory: null,
    total_memory: null,
    free_hdd: null,
    total_hdd: null,
    bad_blocks: null,
  });
});

describe('a GPS receiver', () => {
  test.each<[RouterRow | undefined, object | null]>([
    [
      { valid: 'true', latitude: '56.969689', longitude: '24.162471' },
      { latitude: 56.969689, longitude: 24.162471 },
    ],
    [
      { valid: 'yes', latitude: "S 33 51' 36''", longitude: "W 151 12' 0''" },
      { latitude: -33.86, longitude: -151.2 },
    ],
    [
      { valid: 'true', latitude: "N 56 58.5'", longitude: '-24.5' },
      { latitude: 56.975, longitude: -24.5 },
    ],
    [{ valid: 'false', latitude: '0.0', longitude: '0.0' }, null],
    [{ valid: 'true', latitude: 'none', longitude: 'none' }, null],
    [{ valid: 'true', latitude: '97', longitude: '0' }, null],
    [undefined, null],
  ])('%j', (row, expected) => {
    expect(readPosition(row)).toEqual(expected);
  });
});

describe('console output', () => {
  test('has the rows of print terse with their flags, without log messages in between', () => {
    const text = [
      ' 0 DC address=10.160.1.230 mac-address=12:34:56:78:90:AA interface=ether2 published=no',
      '17:20:06 echo: system,error,critical login failure for user admin from 80.100.100.11 via ssh',
      ' 1    comment=my printer, upstairs address=10.152.1.230 mac-address=12:34:56:78:90:AB host-name="a b"',
      '',
    ].join('\n');
    expect(parseTerse(text, { C: 'complete', X: 'disabled' })).toEqual([
      {
        complete: 'true',
        disabled: 'false',
        address: '10.160.1.230',
        'mac-address': '12:34:56:78:90:AA',
        interface: 'ether2',
        published: 'no',
      },
      {
        complete: 'false',
        disabled: 'false',
        comment: 'my printer, upstairs',
        address: '10.152.1.230',
        'mac-address': '12:34:56:78:90:AB',
        'host-name': 'a b',
      },
    ]);
  });

  test('has the record of print', () => {
    expect(parseRecord('                time: 10:00:47\n     date: jul/21/2023\n ;;; note\n')).toEqual({
      time: '10:00:47',
      date: 'jul/21/2023',
    });
  });
});

/** Recorded output of real routers lies beside the project where it was made, and nowhere else. */
const samples = new URL('../../../../shared/routeros/samples/', import.meta.url);
const sample = (name: string): string => readFileSync(new URL(name, samples), 'utf8');

describe.skipIf(!existsSync(samples))('recorded samples', () => {
  test('has ARP tables and leases in terse form', () => {
    const table = buildDeviceTable(
      parseTerse(sample('cli-text/ip_arp_print_terse.v6.txt'), { C: 'complete', X: 'disabled', I: 'invalid' }),
      ['cli-text/dhcp_lease_print_terse.v6.txt', 'cli-text/dhcp_lease_print_terse.mixed.txt'].flatMap((name) =>
        parseTerse(sample(name), { X: 'disabled' }),
      ),
      100,
    );
    expect([...table.values()]).toEqual([
      { mac: '12:34:56:78:90:AA', ip: '10.160.1.230', interface: 'ether2_BOX' },
      { mac: '12:34:56:78:90:AB', ip: '10.152.1.230', interface: 'ether5_KFCcisco' },
      { mac: '30:07:4D:F5:07:49', ip: '172.16.16.120', hostname: 'Galaxy-S8', seen_ago: 65 },
      { mac: '74:83:C2:36:5A:6E', ip: '10.164.1.199', hostname: 'Unifi3B', seen_ago: 189 },
      { mac: '00:50:56:88:80:EE', ip: '10.164.1.252', hostname: 'RSNC-CLIENT1-VM', seen_ago: 222 },
      { mac: 'C4:0A:CB:BC:65:C8', ip: '10.164.1.222', hostname: 'SPA122', seen_ago: 244 },
      { mac: 'C2:39:B3:FA:81:D0', ip: '10.0.1.56', seen_ago: 142 },
      { mac: 'AA:C1:AB:E3:F5:E8', ip: '192.168.80.254', seen_ago: 781 },
    ]);
  });

  test('has the sensors of v7 boards', () => {
    const transcripts = JSON.parse(sample('api-transcripts/system_health_print.v7.json')) as Record<string, [string, RouterRow][]>;
    const read = Object.values(transcripts).map((replies) => readHealth(replies.filter(([word]) => word === '!re').map(([, row]) => row)));
    expect(read).toEqual([
      { temperatures: [{ name: 'temperature', celsius: 42 }], voltage: 23.9, states: [], fans: [], supplies: [] },
      {
        temperatures: [
          { name: 'cpu-temperature', celsius: 38 },
          { name: 'phy-temperature', celsius: 39 },
        ],
        voltage: null,
        supplies: [],
        states: [
          { name: 'psu1-state', state: 'ok' },
          { name: 'psu2-state', state: 'fail' },
        ],
        fans: [
          { name: 'fan1-speed', rpm: 3165 },
          { name: 'fan2-speed', rpm: 3225 },
          { name: 'fan3-speed', rpm: 3315 },
          { name: 'fan4-speed', rpm: 3270 },
        ],
      },
    ]);
  });

  test('has clocks of both date formats', () => {
    expect(new Date(parseClock(parseRecord(sample('cli-text/system_clock_print.pre7.10.txt')))!).toISOString()).toBe(
      '2023-07-21T07:00:47.000Z',
    );
    expect(new Date(parseClock(JSON.parse(sample('api-json/system_clock_print.v7.10plus.json')) as RouterRow)!).toISOString()).toBe(
      '2024-05-17T16:58:11.000Z',
    );
  });

  test('has resources with units', () => {
    expect(readResources(parseRecord(sample('cli-text/system_resource_print.v6.48.6-mipsbe.txt')))).toMatchObject({
      cpu_load: expect.any(Number),
      total_memory: expect.any(Number),
      total_hdd: expect.any(Number),
    });
  });
});

describe('an invalid text or value', () => {
  const [good, bad] = ['AA:00:00:00:00:01', 'AA:00:00:00:00:02'];
  const rows: [RouterRow[], RouterRow[]] = [
    [arp('10.0.0.1', good), arp('999.1.1.1', bad, { interface: 'ether\0' + '1'.repeat(500) })],
    [lease('10.0.0.1', good, { 'host-name': 'camera' }), lease('10.0.0.2', bad, { 'host-name': 'prin\0ter\u202E' })],
  ];

  test('is cleaned and counted, and the other values stay', () => {
    expect(devices(...rows)).toEqual([
      { mac: good, ip: '10.0.0.1', interface: 'bridge', hostname: 'camera' },
      { mac: bad, interface: `ether${'1'.repeat(123)}`, hostname: 'printer' },
    ]);
    expect(countUnclean(...rows)).toBe(3);
    expect(countUnclean([arp('10.0.0.1', good)], [lease('10.0.0.1', good, { 'host-name': 'camera' })])).toBe(0);
  });
});

test('does not limit the count of devices, each counted once', () => {
  const arpRow = (index: number): RouterRow => ({ 'mac-address': mac(index), address: '10.0.0.1', interface: 'bridge' });
  const mac = (index: number): string =>
    `AA:00:00:00:${index >> 8 < 16 ? '0' : ''}${(index >> 8).toString(16)}:${(index & 255).toString(16).padStart(2, '0')}`.toUpperCase();
  const arp = Array.from({ length: 300 }, (_unused, index) => arpRow(index));
  const leases = [280, 301].map((index) => ({ 'mac-address': mac(index), address: '10.0.0.2', status: 'bound', 'last-seen': '5s' }));
  expect(buildDeviceTable(arp, leases, 100).size).toBe(100);
  expect(countDevices([...arp, arpRow(5)], leases)).toBe(301);
});
