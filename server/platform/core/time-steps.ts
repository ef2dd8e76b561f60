import { invalidField } from './errors.ts';

/** Measurements are kept in steps of time: first the fine ones, later by the hour. */

/** About 40 pings and 15 readings: enough for a 95th percentile, and for a mean. */
export const FINE_STEP_MS = 15 * 60_000;
export const HOUR_STEP_MS = 3_600_000;

/** Steps that a caller may ask for, milliseconds. */
export const STEP_LENGTHS = { '15m': FINE_STEP_MS, '1h': HOUR_STEP_MS, '6h': 6 * HOUR_STEP_MS, '1d': 24 * HOUR_STEP_MS } as const;
export type StepWord = keyof typeof STEP_LENGTHS;
export const STEP_WORDS = Object.keys(STEP_LENGTHS) as [StepWord, ...StepWord[]];

/** Points of one answer, at most: 30 days of the fine steps, and eight years of days. About 500 kB. */
const MOST_POINTS = 3000;
/** Points that a caller gets who does not name a step, at most: as many as a chart shows. */
const USUAL_POINTS = 400;
const DEFAULT_RANGE_MS = 24 * HOUR_STEP_MS;

/** How long steps are kept, milliseconds. */
export interface StepRetention {
  fineMs: number;
  hourlyMs: number;
}

/** From the beginning of one step to the end of another, milliseconds since 1970. */
export interface StepRange {
  from: number;
  to: number;
  stepMs: number;
}

/** The beginning of the step that a moment lies in. Steps are aligned to midnight UTC. */
export function stepStart(at: number, stepMs: number): number {
  return Math.floor(at / stepMs) * stepMs;
}

/**
 * What a caller asks for; the last 24 hours when nothing is named.
 * @throws AppError `invalid` for a range that is empty or has too many steps
 */
export function readStepRange(
  query: { from?: string | undefined; to?: string | undefined; step?: StepWord | undefined },
  now: number,
): StepRange {
  const to = query.to === undefined ? now : Date.parse(query.to);
  const from = query.from === undefined ? to - DEFAULT_RANGE_MS : Date.parse(query.from);
  if (from >= to) throw invalidField('from', 'must be before `to`');
  const stepMs = query.step === undefined ? usualStep(to - from) : STEP_LENGTHS[query.step];
  const range = { from: stepStart(from, stepMs), to: stepStart(to - 1, stepMs) + stepMs, stepMs };
  const points = (range.to - range.from) / stepMs;
  if (points > MOST_POINTS) throw invalidField('step', `makes ${points} steps of this range; at most ${MOST_POINTS} are answered`);
  return range;
}

function usualStep(rangeMs: number): number {
  const lengths = Object.values(STEP_LENGTHS);
  return lengths.find((length) => rangeMs / length <= USUAL_POINTS) ?? STEP_LENGTHS['1d'];
}
