import type { HealthReadings } from '../../../protocol/index.ts';
import { MEASUREMENTS, UNITS } from './types.ts';
import type { HealthStepRow, Measurement } from './types.ts';

type Sum = { count: number; sum: number; min: number; max: number };
type Columns = Omit<HealthStepRow, 'router_id' | 'span_s' | 'at' | 'part'>;

/** What one message says: percent, degrees, volts; undefined for what the router does not report. */
export function measure(readings: HealthReadings): Record<Measurement, number | undefined> {
  const { cpu_load: cpu, temperatures, voltage, free_memory, total_memory, free_hdd, total_hdd } = readings;
  return {
    cpu: cpu ?? undefined,
    memory: usedPercent(free_memory, total_memory),
    disk: usedPercent(free_hdd, total_hdd),
    // The part that fails first.
    celsius: temperatures.length === 0 ? undefined : Math.max(...temperatures.map(({ celsius }) => celsius)),
    // Boards without a sensor on this input print 0.
    volts: voltage === null || voltage <= 0 ? undefined : voltage,
  };
}

function usedPercent(free: number | null, total: number | null): number | undefined {
  if (free === null || total === null || total === 0) return undefined;
  return (100 * Math.max(0, total - free)) / total;
}

/** The readings of one router in one step. */
export class HealthSums {
  /** When the last reading came, in monotonic time. */
  takenAt = Number.NEGATIVE_INFINITY;
  readonly #sums = Object.fromEntries(MEASUREMENTS.map((name) => [name, { count: 0, sum: 0, min: 0, max: 0 }])) as Record<Measurement, Sum>;

  add(readings: HealthReadings): void {
    const values = measure(readings);
    for (const name of MEASUREMENTS) {
      const value = values[name];
      if (value !== undefined) addTo(this.#sums[name], Math.round(value * UNITS[name]));
    }
  }

  get columns(): Columns {
    const pairs = MEASUREMENTS.flatMap((name) => {
      const { count, sum, min, max } = this.#sums[name];
      const spread = count === 0 ? [null, null] : [min, max];
      return [
        [`${name}_count`, count],
        [`${name}_sum`, sum],
        [`${name}_min`, spread[0]],
        [`${name}_max`, spread[1]],
      ];
    });
    return Object.fromEntries(pairs) as Columns;
  }
}

function addTo(sum: Sum, value: number): void {
  sum.min = sum.count === 0 ? value : Math.min(sum.min, value);
  sum.max = sum.count === 0 ? value : Math.max(sum.max, value);
  sum.sum += value;
  sum.count += 1;
}
