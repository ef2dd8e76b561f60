import { MAX_SENSORS } from '../../protocol/index.ts';
import type { HealthReadings } from '../../protocol/index.ts';
import type { RouterRow } from '../routers/adapter.ts';
import { leadingNumber, parseBytes } from './values.ts';

interface Sensor {
  name: string;
  value: number;
  kind: 'celsius' | 'volts' | 'other';
}

/** v7 lists sensors with their unit; v6 has one record with a property per sensor. */
function readSensors(rows: readonly RouterRow[]): Sensor[] {
  const pairs = rows.flatMap((row) => (row['name'] === undefined ? Object.entries(row) : [[row['name'], row['value'] ?? '', row['type']]]));
  return pairs.flatMap(([name = '', text, type]) => {
    const value = leadingNumber(text);
    return value === undefined || name.startsWith('.') ? [] : [{ name, value, kind: kindOf(name, type) }];
  });
}

function kindOf(name: string, type: string | undefined): Sensor['kind'] {
  if (type === 'C' || name.includes('temperature')) return 'celsius';
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

/** @param rows of `/system/health`; none where the board has no sensors */
export function readHealth(rows: readonly RouterRow[]): Pick<HealthReadings, 'temperatures' | 'voltage'> {
  const sensors = readSensors(rows);
  const temperatures = sensors
    .filter((sensor) => sensor.kind === 'celsius')
    .map(({ name, value }) => ({ name: name.slice(0, 64), celsius: value }))
    // Sensors that are not fitted print nonsense far outside of any climate.
    .filter(({ celsius }) => celsius > -100 && celsius < 300)
    .slice(0, MAX_SENSORS);
  return { temperatures, voltage: supplyVolts(sensors) };
}

type Resources = Pick<HealthReadings, 'cpu_load' | 'free_memory' | 'total_memory' | 'free_hdd' | 'total_hdd'>;

/** @param row of `/system/resource` */
export function readResources(row: RouterRow): Resources {
  const load = leadingNumber(row['cpu-load']);
  return {
    cpu_load: load === undefined ? null : Math.min(100, Math.max(0, load)),
    free_memory: parseBytes(row['free-memory']) ?? null,
    total_memory: parseBytes(row['total-memory']) ?? null,
    free_hdd: parseBytes(row['free-hdd-space']) ?? null,
    total_hdd: parseBytes(row['total-hdd-space']) ?? null,
  };
}
