import type { Selectable } from 'kysely';
import type { RouterHealthStepsTable } from '../../platform/storage/schema-steps.ts';

export type HealthStepRow = Selectable<RouterHealthStepsTable>;

/** The columns of what is measured, with how many of their units make one percent, degree or volt. */
export const UNITS = { cpu: 10, memory: 10, disk: 10, celsius: 10, volts: 100 } as const;
export type Measurement = keyof typeof UNITS;
export const MEASUREMENTS = Object.keys(UNITS) as Measurement[];

/** Percent, degrees Celsius or volts. */
export interface Spread {
  min: number;
  mean: number;
  max: number;
}

/** The health of a router in a step of time; null for what it did not report. Moments are milliseconds since 1970. */
export type HealthPoint = Record<Measurement, Spread | null> & { from: number; to: number };
