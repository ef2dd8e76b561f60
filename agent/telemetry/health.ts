import { MAX_SENSORS } from '../../protocol/index.ts';
import { cleanText } from '../../routeros-text/router-text.ts';
import type { HealthReadings } from '../../protocol/index.ts';
import type { RouterRow } from '../routers/adapter.ts';
import { leadingNumber, parseBytes } from '../../routeros-text/values.ts';

interface Sensor {
  name: string;
  value: number;
  kind: 'celsius' | 'volts' | 'rpm' | 'other';
}

/** Name, value and unit. v7 lists sensors with their unit; v6 has one record with a property per sensor. */
function readPairs(rows: readonly RouterRow[]): (string | undefined)[][] {
  return rows.flatMap((row) => (row['name'] === undefined ? Object.entries(row) : [[row['name'], row['value'] ?? '', row['type']]]));
}

function readSensors(rows: readonly RouterRow[]): Sensor[] {
  return readPairs(rows).flatMap(([name = '', text, type]) => {
    const value = leadingNumber(text);
    return value === undefined || name.startsWith('.') ? [] : [{ name, value, kind: kindOf(name, type) }];
  });
}

function kindOf(name: string, type: string | undefined): Sensor['kind'] {
  if (type === 'C' || name.includes('temperature')) return 'celsius';
  if (type === 'RPM' || /^fan\d*-speed$/.test(name)) return 'rpm';
  return type === 'V' || name.endsWith('voltage') ? 'volts' : 'other';
}

/** The supply itself, else the better of two power supplies: one of them may be left unplugged on purpose. */
function supplyVolts(sensors: readonly Sensor[]): number | null {
  const volts = sensors.filter((sensor) => sensor.kind === 'volts');
  const main = volts.find((sensor) => sensor.name === 'voltage');
  if (main) return main.value;
  const supplies = volts.filter((sensor) => sensor.name.startsWith('psu')).map((sensor) => sensor.value);
  return supplies.length > 0 ? Math.max(...supplies) : null;
}

/** `psu1-state`, `fan-state`. v6 also prints `state`, which says whether it looks at all. */
function readStates(rows: readonly RouterRow[]): NonNullable<HealthReadings['states']> {
  const words = readPairs(rows).filter(([name = '', value = '']) => name.endsWith('-state') && value !== '');
  return words.map(([name = '', state = '']) => ({ name: cleanText(name, 64), state: cleanText(state, 64) })).slice(0, MAX_SENSORS);
}

type BoardReadings = Pick<HealthReadings, 'temperatures' | 'voltage' | 'states' | 'fans' | 'supplies'>;

/** @param rows of `/system/health`; none where the board has no sensors */
export function readHealth(rows: readonly RouterRow[]): BoardReadings {
  const sensors = readSensors(rows);
  const temperatures = sensors
    .filter((sensor) => sensor.kind === 'celsius')
    .map(({ name, value }) => ({ name: cleanText(name, 64), celsius: value }))
    // Sensors that are not fitted print nonsense far outside of any climate.
    .filter(({ celsius }) => celsius > -100 && celsius < 300)
    .slice(0, MAX_SENSORS);
  const named = (kind: Sensor['kind'], pattern: RegExp): Sensor[] =>
    sensors.filter((sensor) => sensor.kind === kind && pattern.test(sensor.name)).slice(0, MAX_SENSORS);
  return {
    temperatures,
    voltage: supplyVolts(sensors),
    states: readStates(rows),
    fans: named('rpm', /^fan/).map(({ name, value }) => ({ name: cleanText(name, 64), rpm: Math.max(0, value) })),
    supplies: named('volts', /^psu/).map(({ name, value }) => ({ name: cleanText(name, 64), volts: value })),
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
