import type { HealthReadings } from '../../../protocol/index.ts';
import type { Patience, Verdict } from './gate.ts';
import type { Limits } from './thresholds.ts';
import type { FaultType, Finding } from './types.ts';

/** The verdict on one reading, with the text for the fault. */
export interface Judgement extends Finding {
  verdict: Verdict;
}

/** The ambient temperatures in which a product was tested, °C. */
export interface Ambience {
  readonly min: number;
  readonly max: number;
}

/** A rule on the readings that agents take from a router every minute. Its three texts are a row of docs/health-rules.md. */
export interface HealthRule {
  type: FaultType;
  patience: Patience;
  /** RouterOS menus and properties. */
  reads: string;
  opens: string;
  resolves: string;
  /** Undefined: the router has no such reading, so nothing changes. */
  judge(readings: HealthReadings, ambience: Ambience | undefined): Judgement | undefined;
}

/** A backup, an export or a routing change loads the processor for a minute or two; five minutes are a fault. */
export const BUSY: Patience = { toOpen: 5, toResolve: 3 };
/** One outlier of a sensor is not a fault. */
export const STEADY: Patience = { toOpen: 2, toResolve: 2 };
/** The first good reading resolves the fault. */
export const PROMPT: Patience = { toOpen: 2, toResolve: 1 };
/** Radio levels fluctuate; a fan may stop for a moment when it slows down. */
export const PATIENT: Patience = { toOpen: 3, toResolve: 3 };

/** For readings that are worse the higher they are. */
export function whichSide(value: number, limits: Limits): Verdict {
  if (value >= limits.bad) return 'bad';
  return value <= limits.good ? 'good' : 'between';
}

/** Combines verdicts: bad if one is bad, good only if all are good. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('bad')) return 'bad';
  return verdicts.every((verdict) => verdict === 'good') ? 'good' : 'between';
}

/** Reads `-40°C to 70°C`, the format of the catalogue. Undefined for any other text. */
export function parseAmbience(text: string | null): Ambience | undefined {
  const match = /^\s*([+-]?\d+)\s*°?\s*C?\s*(?:to|\.\.+|…)\s*([+-]?\d+)\s*°?\s*C?\s*$/.exec((text ?? '').replaceAll('−', '-'));
  if (!match) return undefined;
  const [min, max] = [Number(match[1]), Number(match[2])];
  return min < max ? { min, max } : undefined;
}
