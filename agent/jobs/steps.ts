import type { JobOffer, JobResult } from '../../protocol/index.ts';
import type { Marker } from './source.ts';
import type { RunReport } from './verdict/verdict.ts';

/**
 * What to do next with a job that may run, as data: decided here, done by execution.ts. Pure.
 */
export type Step =
  /** Is it the right device, and which version? */
  | 'identify'
  /** Is there a marker of an earlier run on the router? */
  | 'inspect'
  | 'check_syntax'
  | 'back_up'
  /** Have the router undo the script unless it is told not to in time. */
  | 'arm'
  /** Store the script on the router. */
  | 'prepare'
  /** BEGIN to the journal. */
  | 'begin'
  /** BEGIN to the journal for a run that an earlier life of this agent began; it is not run again. */
  | 'admit'
  | 'run'
  /** Read the marker and what else tells how the run ended. */
  | 'resolve'
  /** Does what the script did stay, or does the router undo it? */
  | 'settle'
  /** Take away a guard that was made for a script that did not run: before anything else, and in the end. */
  | 'stand_down'
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
  /** Nothing of a run was found on the router, so that a restore point found later is this agent's own preparation. */
  isUnused: boolean;
  /** The undo guard is armed. */
  isArmed: boolean;
  /** The guard or parts of it, of this process or an earlier one, may be on the router although nothing ran. */
  isGuardLeft: boolean;
  /** BEGIN is in the journal. */
  isBegun: boolean;
  /** What the call came to. A job that was begun by an earlier process has lost its call. */
  report: RunReport | undefined;
  /** What became of the script, before it is known whether the router undoes it. */
  verdict: JobResult | undefined;
  result: JobResult | undefined;
}

/** @param isGuarded the router may hold what an earlier process armed, also one that this journal does not know of */
export function freshProgress(isGuarded = false): Progress {
  return {
    version: undefined,
    marker: undefined,
    isChecked: false,
    isBackedUp: false,
    isPrepared: false,
    isUnused: false,
    isArmed: false,
    isGuardLeft: isGuarded,
    isBegun: false,
    report: undefined,
    verdict: undefined,
    result: undefined,
  };
}

/** BEGIN without END in the journal: never run again, the marker decides. */
export function resumedProgress(): Progress {
  return { ...freshProgress(), isBegun: true, report: { kind: 'lost', late: false } };
}

/** A doubt (broken session) makes everything that was only seen, not done, be looked at again. */
export function afterDoubt(progress: Progress): Progress {
  return { ...progress, version: undefined, marker: undefined, isArmed: false, isPrepared: false };
}

export function nextStep(progress: Progress, offer: Pick<JobOffer, 'make_backup' | 'undo_unless_reachable_seconds'>): Step {
  if (progress.result) return progress.isGuardLeft ? 'stand_down' : 'end';
  if (progress.verdict) return 'settle';
  if (progress.isBegun) return progress.report ? 'resolve' : 'run';
  if (progress.version === undefined) return 'identify';
  if (progress.marker === undefined) return 'inspect';
  // The router says that this job ran, although this journal does not: the agent's disk was restored.
  if (hasBegun(progress.marker)) return 'admit';
  // It would fire in the middle of what comes now: a backup alone takes minutes.
  if (progress.isGuardLeft && !progress.isArmed) return 'stand_down';
  if (!progress.isChecked) return 'check_syntax';
  if (offer.make_backup && !progress.isBackedUp) return 'back_up';
  if (offer.undo_unless_reachable_seconds !== undefined && !progress.isArmed) return 'arm';
  if (!progress.isPrepared) return 'prepare';
  return 'begin';
}

/** The script's own word, which is in no restore point. */
export function hasBegun(marker: Marker): boolean {
  return marker.state === 'begun' || marker.state === 'done' || marker.state === 'error';
}
