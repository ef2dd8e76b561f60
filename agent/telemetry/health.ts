import { MAX_SENSORS } from '../../protocol/index.ts';
import type { HealthReadings } from '../../protocol/index.ts';
import type { RouterRow } from '../routers/adapter.ts';
import { Cleaner } from './cleaner.ts';
import { leadingNumber, parseBytes } from '../../routeros-text/values.ts';

interface Sensor {
  name: string;
  value: number;
  kind: 'celsius' | 'volts' | 'rpm' | 'other';
}

interface Pair {
  name: string;
  value: string;
  unit: string | undefined;
}

/** Longest name or state of a sensor that the protocol accepts. */
const LONGEST_WORD = 64;

/**
 * v7 lists sensors with their unit; v6 has one record with a property per sensor. Both are cleaned before matching, so that a
 * control character in `psu2-state` cannot hide a failed supply.
 */
function readPairs(rows: readonly RouterRow[], cleaner: Cleaner): Pair[] {
  const pairs = rows.flatMap((row): [string, string, string | undefined][] =>
    row['name'] === undefined
      ? Object.entries(row).map(([name, value]) => [name, value, undefined])
      : [[row['name'], row['value'] ?? '', row['type']]],
  );
  return pairs
    .filter(([name]) => !name.startsWith('.'))
    .map(([name, value, unit]) => ({ name: cleaner.text(name, LONGEST_WORD), value: cleaner.text(value, LONGEST_WORD), unit }));
}

function readSensors(pairs: readonly Pair[]): Sensor[] {
  return pairs.flatMap(({ name, value: text, unit }) => {
    const value = leadingNumber(text);
    return value === undefined ? [] : [{ name, value, kind: kindOf(name, unit) }];
  });
}

function kindOf(name: string, unit: string | undefined): Sensor['kind'] {
  if (unit === 'C' || name.includes('temperature')) return 'celsius';
  if (unit === 'RPM' || /^fan\d*-speed$/.test(name)) return 'rpm';
  return unit === 'V' || name.endsWith('voltage') ? 'volts' : 'other';
}

/** The input voltage, else that of the better power supply, because one may be unplugged on purpose. */
function supplyVolts(sensors: readonly Sensor[]): number | null {
  const volts = sensors.filter((sensor) => sensor.kind === 'volts');
  const main = volts.find((sensor) => sensor.name === 'voltage');
  if (main) return main.value;
  const supplies = volts.filter((sensor) => sensor.name.startsWith('psu')).map((sensor) => sensor.value);
  return supplies.length > 0 ? Math.max(...supplies) : null;
}

/** `psu1-state`, `fan-state`. v6 also prints `state`, which tells whether it monitors at all. */
function readStates(pairs: readonly Pair[]): NonNullable<HealthReadings['states']> {
  const words = pairs.filter(({ name, value }) => name.endsWith('-state') && value !== '');
  return words.map(({ name, value }) => ({ name, state: value })).slice(0, MAX_SENSORS);
}

type BoardReadings = Pick<HealthReadings, 'temperatures' | 'voltage' | 'states' | 'fans' | 'supplies'>;

/** @param rows of `/system/health`; none where the board has no sensors */
export function readHealth(rows: readonly RouterRow[], cleaner = new Cleaner()): BoardReadings {
  const pairs = readPairs(rows, cleaner);
  const sensors = readSensors(pairs);
  const temperatures = sensors
    .filter((sensor) => sensor.kind === 'celsius')
    .map(({ name, value }) => ({ name, celsius: value }))
    // Missing sensors print values far outside any real temperature.
    .filter(({ celsius }) => celsius > -100 && celsius < 300)
    .slice(0, MAX_SENSORS);
  const named = (kind: Sensor['kind'], pattern: RegExp): Sensor[] =>
    sensors.filter((sensor) => sensor.kind === kind && pattern.test(sensor.name)).slice(0, MAX_SENSORS);
  return {
    temperatures,
    voltage: supplyVolts(sensors),
    states: readStates(pairs),
    fans: named('rpm', /^fan/).map(({ name, value }) => ({ name, rpm: Math.max(0, value) })),
    supplies: named('volts', /^psu/).map(({ name, value }) => ({ name, volts: value })),
  };
}

type Resources = Pick<HealthReadings, 'cpu_load' | 'free_memory' | 'total_memory' | 'free_hdd' | 'total_hdd' | 'bad_blocks'>;

function percentOrNull(text: string | undefined): number | null {
  const percent = leadingNumber(text);
  return percent === undefined ? null : Math.min(100, Math.max(0, percent));
}

/** @param row of `/system/resource` */
export function readResources(row: RouterRow): Resources {
  return {
    cpu_load: percentOrNull(row['cpu-load']),
    free_memory: parseBytes(row['free-memory']) ?? null,
    total_memory: parseBytes(row['total-memory']) ?? null,
    free_hdd: parseBytes(row['free-hdd-space']) ?? null,
    total_hdd: parseBytes(row['total-hdd-space']) ?? null,
    bad_blocks: percentOrNull(row['bad-blocks']),
  };
}
