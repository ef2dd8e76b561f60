import type { HealthReadings } from '../../../protocol/index.ts';
import type { Patience, Verdict } from './gate.ts';
import type { Limits } from './thresholds.ts';
import type { FaultType, Finding } from './types.ts';

/** One reading judged: the words are used when it opens or stays a fault. */
export interface Judgement extends Finding {
  verdict: Verdict;
}

/** The temperatures around it in which a product was tested, °C. */
export interface Ambience {
  readonly min: number;
  readonly max: number;
}

/** A rule about what agents read from a router every minute. Its three texts are a row of docs/health-rules.md. */
export interface HealthRule {
  type: FaultType;
  patience: Patience;
  /** RouterOS's menu and properties. */
  reads: string;
  opens: string;
  resolves: string;
  /** Undefined: the router does not tell, so nothing changes. */
  judge(readings: HealthReadings, ambience: Ambience | undefined): Judgement | undefined;
}

/** A backup, an export or a routing change keeps a processor busy for a minute or two; five are a fault. */
export const BUSY: Patience = { toOpen: 5, toResolve: 3 };
/** One odd sample of a sensor is no fault. */
export const STEADY: Patience = { toOpen: 2, toResolve: 2 };
/** What is well again at the first look is well again. */
export const PROMPT: Patience = { toOpen: 2, toResolve: 1 };
/** Radio links swing; a fan may stop for a moment when it slows down. */
export const PATIENT: Patience = { toOpen: 3, toResolve: 3 };

/** For readings that are worse the higher they are. */
export function whichSide(value: number, limits: Limits): Verdict {
  if (value >= limits.bad) return 'bad';
  return value <= limits.good ? 'good' : 'between';
}

/** The verdict of several: one bad thing is bad, well is only what is well throughout. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('bad')) return 'bad';
  return verdicts.every((verdict) => verdict === 'good') ? 'good' : 'between';
}

/** `-40°C to 70°C`, as the catalogue has it. Undefined for any other text. */
export function parseAmbience(text: string | null): Ambience | undefined {
  const match = /^\s*([+-]?\d+)\s*°?\s*C?\s*(?:to|\.\.+|…)\s*([+-]?\d+)\s*°?\s*C?\s*$/.exec((text ?? '').replaceAll('−', '-'));
  if (!match) return undefined;
  const [min, max] = [Number(match[1]), Number(match[2])];
  return min < max ? { min, max } : undefined;
}
