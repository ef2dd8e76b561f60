import type { JobResult } from '../../protocol/index.ts';
import type { Marker } from './source.ts';
import type { RunReport } from './verdict/verdict.ts';

/**
 * What to do next with a job that may run, as data: decided here, done by execution.ts. Pure.
 */
export type Step =
  /** Is it the right device, and which version? */
  | 'identify'
  /** Is there a marker of an earlier run on the router? */
  | 'look'
  | 'check_syntax'
  | 'back_up'
  /** Store the script on the router. */
  | 'prepare'
  /** BEGIN to the journal. */
  | 'begin'
  /** BEGIN to the journal for a run that an earlier life of this agent began; it is not run again. */
  | 'admit'
  | 'run'
  /** Read the marker and what else tells how the run ended. */
  | 'resolve'
  /** END to the journal. */
  | 'end';

/** What has been done and seen so far. */
export interface Progress {
  /** RouterOS version of the device, once it was found to be the right one. */
  version: string | undefined;
  marker: Marker | undefined;
  isChecked: boolean;
  isBackedUp: boolean;
  isPrepared: boolean;
  /** BEGIN is in the journal. */
  isBegun: boolean;
  /** What the call came to. A job that was begun by an earlier process has lost its call. */
  report: RunReport | undefined;
  result: JobResult | undefined;
}

export function freshProgress(): Progress {
  return {
    version: undefined,
    marker: undefined,
    isChecked: false,
    isBackedUp: false,
    isPrepared: false,
    isBegun: false,
    report: undefined,
    result: undefined,
  };
}

/** BEGIN without END in the journal: never run again, the marker decides. */
export function resumedProgress(): Progress {
  return { ...freshProgress(), isBegun: true, report: { kind: 'lost', late: false } };
}

/** A doubt (broken session) makes everything that was only seen, not done, be looked at again. */
export function afterDoubt(progress: Progress): Progress {
  return { ...progress, version: undefined, marker: undefined, isPrepared: false };
}

export function nextStep(progress: Progress, offer: { make_backup: boolean }): Step {
  if (progress.result) return 'end';
  if (progress.isBegun) return progress.report ? 'resolve' : 'run';
  if (progress.version === undefined) return 'identify';
  if (progress.marker === undefined) return 'look';
  // The router says that this job ran, although this journal does not: the agent's disk was restored.
  if (isUsed(progress.marker)) return 'admit';
  if (!progress.isChecked) return 'check_syntax';
  if (offer.make_backup && !progress.isBackedUp) return 'back_up';
  if (!progress.isPrepared) return 'prepare';
  return 'begin';
}

export function isUsed(marker: Marker): boolean {
  return marker.state === 'begun' || marker.state === 'done' || marker.state === 'error';
}
