import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readHealth } from '../../../agent/telemetry/health.ts';
import type { RouterRow } from '../../../agent/routers/adapter.ts';
import type { HealthReadings } from '../../../protocol/index.ts';
import { POE_BETWEEN, POE_FAULTS, POE_WELL } from '../../../server/fleet/faults/hardware-rules.ts';
import { HEALTH_RULES } from '../../../server/fleet/faults/health-rules.ts';
import { parseAmbience } from '../../../server/fleet/faults/rule.ts';
import { FAULT_SEVERITY } from '../../../server/fleet/faults/types.ts';
import type { FaultChange } from '../../../server/fleet/faults/types.ts';
import { RouterWatch } from '../../../server/fleet/faults/watch.ts';
import { inWords } from '../../harness/causes.ts';

const MINUTE = 60_000;
const root = path.resolve(import.meta.dirname, '../../..');
const well: HealthReadings = {
  cpu_load: 5,
  temperatures: [],
  voltage: null,
  free_memory: null,
  total_memory: null,
  free_hdd: null,
  total_hdd: null,
  clock_offset_seconds: null,
  wan: [],
  position: null,
  states: [
    { name: 'psu1-state', state: 'ok' },
    { name: 'psu2-state', state: 'ok' },
    { name: 'fan-state', state: 'ok' },
    { name: 'switch-state', state: 'ok' },
  ],
  fans: [
    { name: 'fan1-speed', rpm: 4000 },
    { name: 'fan2-speed', rpm: 4100 },
  ],
  supplies: [
    { name: 'psu1-voltage', volts: 12.1 },
    { name: 'psu2-voltage', volts: 12.1 },
  ],
  poe: [
    { interface: 'ether2', status: 'powered-on' },
    { interface: 'ether3', status: 'waiting-for-load' },
  ],
  bad_blocks: 0,
  bad_disks: [],
  signals: [
    { interface: 'lte1', kind: 'lte', dbm: -90 },
    { interface: 'wlan1', kind: 'wireless', dbm: -60 },
  ],
};

function watch(): RouterWatch {
  return new RouterWatch(
    { heartbeatMs: 30_000, offlineAfterMs: 75_000 },
    { uptimeSeconds: 1000, lastSeenAt: 0, openFaults: [], watchedSince: 0 },
  );
}

/** One reading a minute. */
function live(router: RouterWatch, readings: readonly HealthReadings[], from = 0): FaultChange[] {
  return readings.flatMap((reading, index) => router.onHealth(reading, (from + index) * MINUTE));
}

const times = (count: number, reading: HealthReadings): HealthReadings[] => Array.from({ length: count }, () => reading);
const state = (name: string, word: string): HealthReadings['states'] => [
  ...(well.states ?? []).filter((each) => each.name !== name),
  { name, state: word },
];

describe('a part that fails is a fault, and ends when it is well', () => {
  test.each<[type: string, bad: Partial<HealthReadings>, message: string, cause: string]>([
    ['power_supply_failed', { states: state('psu2-state', 'fail') }, 'Power supply psu2 failed', 'psu2-state is fail'],
    [
      'power_supply_failed',
      {
        supplies: [
          { name: 'psu1-voltage', volts: 0 },
          { name: 'psu2-voltage', volts: 12.1 },
        ],
      },
      'Power supply psu1 failed',
      'psu1-voltage is 0 V',
    ],
    [
      'power_supply_failed',
      {
        states: state('psu2-state', 'fail'),
        supplies: [
          { name: 'psu2-voltage', volts: 0 },
          { name: 'psu1-voltage', volts: 12.1 },
        ],
      },
      'Power supply psu2 failed',
      'psu2-state is fail, psu2-voltage is 0 V',
    ],
    ['fan_failed', { states: state('fan-state', 'fail') }, 'Fan unit failed', 'fan-state is fail'],
    [
      'fan_failed',
      {
        fans: [
          { name: 'fan1-speed', rpm: 0 },
          { name: 'fan2-speed', rpm: 5000 },
        ],
      },
      'Fan fan1 failed',
      'fan1-speed is 0 RPM while others turn',
    ],
    ['hardware_failed', { states: state('switch-state', 'error') }, 'switch failed', 'switch-state is error'],
    ['poe_out_failed', { poe: [{ interface: 'ether2', status: 'short-circuit' }] }, 'PoE out of ether2 failed', 'ether2: short-circuit'],
    [
      'poe_out_failed',
      {
        poe: [
          { interface: 'ether2', status: 'overload' },
          { interface: 'ether3', status: 'voltage-too-low' },
        ],
      },
      'PoE out of ether2, ether3 failed',
      'ether2: overload, ether3: voltage-too-low',
    ],
    ['disk_failing', { bad_blocks: 7 }, 'Storage is failing: flash', '7 % of the flash blocks are bad'],
    [
      'disk_failing',
      { bad_disks: [{ name: 'nvme1', state: 'raid-member-failed' }] },
      'Storage is failing: nvme1',
      'nvme1 is raid-member-failed',
    ],
    ['weak_signal', { signals: [{ interface: 'lte1', kind: 'lte', dbm: -125 }] }, 'Weak signal on lte1', 'lte1 receives -125 dBm'],
    ['weak_signal', { signals: [{ interface: 'lte1', kind: 'lte', dbm: null }] }, 'Weak signal on lte1', 'lte1 is not registered'],
    ['weak_signal', { signals: [{ interface: 'wlan1', kind: 'wireless', dbm: -91 }] }, 'Weak signal on wlan1', 'wlan1 receives -91 dBm'],
    ['temperature', { temperatures: [{ name: 'sfp-temperature', celsius: 91 }] }, 'The router is too hot', 'sfp-temperature is 91 °C'],
    [
      'temperature',
      { temperatures: [{ name: 'switch-temperature', celsius: 96 }] },
      'The router is too hot',
      'switch-temperature is 96 °C',
    ],
    [
      'temperature',
      { temperatures: [{ name: 'board-temperature1', celsius: 81 }] },
      'The router is too hot',
      'board-temperature1 is 81 °C',
    ],
  ])('%s: %j', (type, bad, message, cause) => {
    const router = watch();
    expect(live(router, times(3, well))).toEqual([]);
    expect(inWords(live(router, times(6, { ...well, ...bad }), 3))).toEqual([
      { kind: 'open', type, at: 3 * MINUTE, finding: { message, cause } },
    ]);
    // No sensor, no news: only a good reading ends it.
    const silent = { ...well, temperatures: [], states: [], fans: [], supplies: [], poe: [], bad_blocks: null, signals: [] };
    expect(live(router, times(6, type === 'disk_failing' ? { ...silent, bad_disks: undefined } : silent), 9)).toEqual([]);
    const good = { ...well, temperatures: bad.temperatures ? bad.temperatures.map((sensor) => ({ ...sensor, celsius: 40 })) : [] };
    expect(live(router, times(6, good), 15)).toEqual([{ kind: 'resolve', type, at: 15 * MINUTE }]);
  });

  test('another failed part changes the text, not the record', () => {
    const router = watch();
    live(router, times(4, { ...well, states: state('psu1-state', 'fail') }));
    const both = {
      ...well,
      states: [
        { name: 'psu1-state', state: 'fail' },
        { name: 'psu2-state', state: 'fail' },
      ],
    };
    expect(inWords(live(router, times(3, both), 4))).toEqual([
      {
        kind: 'describe',
        type: 'power_supply_failed',
        finding: { message: 'Power supplies psu1, psu2 failed', cause: 'psu1-state is fail, psu2-state is fail' },
      },
    ]);
  });
});

describe('no fault', () => {
  test.each<[string, Partial<HealthReadings>]>([
    [
      'an agent older than these readings',
      {
        states: undefined,
        fans: undefined,
        supplies: undefined,
        poe: undefined,
        bad_blocks: undefined,
        bad_disks: undefined,
        signals: undefined,
      },
    ],
    [
      'fans that all stand while it is cool',
      {
        fans: [
          { name: 'fan1-speed', rpm: 0 },
          { name: 'fan2-speed', rpm: 0 },
        ],
      },
    ],
    ['a single fan that stands', { fans: [{ name: 'fan1-speed', rpm: 0 }] }],
    [
      'words nobody knows',
      {
        states: [
          { name: 'psu2-state', state: 'not-present' },
          { name: 'lid-state', state: 'ajar' },
        ],
      },
    ],
    [
      'sensors of supplies that are not fitted',
      {
        supplies: [
          { name: 'psu1-voltage', volts: 0 },
          { name: 'psu2-voltage', volts: 0 },
        ],
      },
    ],
    ['a powered device that idles', { poe: [{ interface: 'ether2', status: 'current-too-low' }] }],
    ['a PoE controller that starts', { poe: [{ interface: 'ether2', status: 'controller-init' }] }],
    ['the bad blocks that flash is sold with', { bad_blocks: 2 }],
  ])('%s', (_what, readings) => {
    expect(live(watch(), times(20, { ...well, ...readings }))).toEqual([]);
  });

  test('values at the threshold do not flap', () => {
    const edges: Partial<HealthReadings>[] = [
      { signals: [{ interface: 'lte1', kind: 'lte', dbm: -117 }] },
      { bad_blocks: 4.5 },
      { temperatures: [{ name: 'temperature', celsius: 78 }] },
      { supplies: [{ name: 'psu1-voltage', volts: 8.1 }] },
    ];
    for (const edge of edges) expect(live(watch(), times(20, { ...well, ...edge }))).toEqual([]);
    const swinging = Array.from({ length: 60 }, (_, index) => ({
      ...well,
      signals: [{ interface: 'lte1', kind: 'lte' as const, dbm: index % 2 === 0 ? -121 : -119 }],
    }));
    expect(live(watch(), swinging)).toEqual([]);
  });

  test('with any readings, a fault opens and resolves alternately', () => {
    const reading = fc.record({
      states: fc.array(
        fc.record({ name: fc.constantFrom('psu1-state', 'psu2-state', 'fan-state'), state: fc.constantFrom('ok', 'fail', 'x') }),
        { maxLength: 3 },
      ),
      fans: fc.array(fc.record({ name: fc.constantFrom('fan1-speed', 'fan2-speed'), rpm: fc.constantFrom(0, 3000) }), { maxLength: 2 }),
      poe: fc.array(fc.record({ interface: fc.constant('ether2'), status: fc.constantFrom('powered-on', 'overload', 'x') }), {
        maxLength: 1,
      }),
    });
    fc.assert(
      fc.property(fc.array(reading, { maxLength: 60 }), (readings) => {
        const open = new Set<string>();
        for (const change of live(
          watch(),
          readings.map((each) => ({ ...well, ...each })),
        )) {
          if (change.kind === 'open') expect(open.has(change.type)).toBe(false);
          if (change.kind === 'resolve') expect(open.has(change.type)).toBe(true);
          if (change.kind === 'open') open.add(change.type);
          if (change.kind === 'resolve') open.delete(change.type);
        }
      }),
    );
  });
});

describe('what the product was tested in moves the limits of its board', () => {
  const at = (celsius: number): HealthReadings => ({ ...well, temperatures: [{ name: 'temperature', celsius }] });
  test.each<[ambience: string | null, celsius: number, isFault: boolean]>([
    [null, 82, true],
    [null, -32, true],
    ['-40°C to 70°C', 82, false],
    ['-40°C to 70°C', 90, true],
    ['-40°C to 70°C', -32, false],
    ['-40°C to 70°C', -45, true],
    // An indoor board is no worse than any board.
    ['0°C to 40°C', 78, false],
    ['0°C to 40°C', 80, true],
  ])('%s: %i °C', (ambience, celsius, isFault) => {
    const router = watch();
    router.testedIn(parseAmbience(ambience));
    expect(live(router, times(5, at(celsius)))).toHaveLength(isFault ? 1 : 0);
  });

  test.each<[string | null, object | undefined]>([
    ['-40°C to 70°C', { min: -40, max: 70 }],
    ['0°C to 40°C', { min: 0, max: 40 }],
    ['-20C .. 60C', { min: -20, max: 60 }],
    ['70°C to -40°C', undefined],
    ['warm', undefined],
    ['', undefined],
    [null, undefined],
  ])('%s', (text, expected) => {
    expect(parseAmbience(text)).toEqual(expected);
  });

  test("the catalogue's own texts are read", () => {
    const csv = readFileSync(path.join(root, 'server/fleet/catalog/mikrotik-products.csv'), 'utf8');
    const texts = [...new Set(csv.match(/-?\d+°C to -?\d+°C/g))];
    expect(texts.length).toBeGreaterThan(3);
    for (const text of texts) expect(parseAmbience(text), text).toBeDefined();
  });
});

/** Recordings of real routers lie beside the project, not in it; where they are absent these tests are skipped. */
const recording = path.resolve(root, '../shared/routeros/samples/api-transcripts/system_health_print.v7.json');
describe.skipIf(!existsSync(recording))('recordings of real routers', () => {
  const recorded = (name: string): RouterRow[] => {
    const sentences = (JSON.parse(readFileSync(recording, 'utf8')) as Record<string, [string, RouterRow][]>)[name] ?? [];
    return sentences.filter(([word]) => word === '!re').map(([, row]) => row);
  };

  test('a switch with a failed second power supply opens one fault', () => {
    const readings = { ...well, ...readHealth(recorded('CRS312-4C+8XG 7.1beta6')) };
    expect(readings.fans).toHaveLength(4);
    expect(inWords(live(watch(), times(5, readings)))).toEqual([
      { kind: 'open', type: 'power_supply_failed', at: 0, finding: { message: 'Power supply psu2 failed', cause: 'psu2-state is fail' } },
    ]);
  });

  test('a healthy small board opens no fault', () => {
    expect(live(watch(), times(5, { ...well, ...readHealth(recorded('RB (voltage/temperature)')) }))).toEqual([]);
  });
});

describe('the words of a port that powers others', () => {
  const judge = (status: string) =>
    HEALTH_RULES.find(({ type }) => type === 'poe_out_failed')!.judge({ ...well, poe: [{ interface: 'ether5', status }] }, undefined)
      ?.verdict;

  // MikroTik's manual, CLI reference of /interface/ethernet/poe/monitor, in its order.
  test.each([
    ['disabled', 'good'],
    ['waiting-for-load', 'good'],
    ['powered-on', 'good'],
    ['overload', 'bad'],
    ['short-circuit', 'bad'],
    ['voltage-too-low', 'bad'],
    ['current-too-low', 'good'],
    ['power-cycle', 'between'],
    ['voltage-too-high', 'bad'],
    ['controller-error', 'bad'],
    ['controller-upgrade', 'between'],
    ['voltage-on-poe-in', 'bad'],
    ['no-valid-PSU', 'bad'],
    ['controller-init', 'between'],
    ['low-voltage-too-low', 'bad'],
    ['lldp-power-off', 'bad'],
    ['low-voltage-pd-detected', 'bad'],
    ['a word to come', 'between'],
  ])('%s is %s', (status, verdict) => {
    expect(judge(status)).toBe(verdict);
  });

  test('each is in the table that names its source', () => {
    const document = readFileSync(path.join(root, 'docs/health-rules.md'), 'utf8');
    const sources = document.slice(document.indexOf('## Where the words come from'));
    for (const word of [...POE_FAULTS, ...POE_WELL, ...POE_BETWEEN]) expect(sources).toContain(word);
  });
});

describe('docs/health-rules.md', () => {
  const document = readFileSync(path.join(root, 'docs/health-rules.md'), 'utf8');

  test.each(HEALTH_RULES.map((rule) => [rule.type, rule] as const))(
    'has the row of %s as the code has it',
    (type, { patience, reads, opens, resolves }) => {
      expect(document).toContain(
        `| \`${type}\` | ${FAULT_SEVERITY[type]} | ${reads} | ${opens} | ${resolves} | ${patience.toOpen} / ${patience.toResolve} |`,
      );
    },
  );

  test('has no row of a removed rule', () => {
    const rows = [...document.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1] ?? '');
    expect(rows.toSorted()).toEqual(Object.keys(FAULT_SEVERITY).toSorted());
  });
});
