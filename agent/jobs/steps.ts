import type { JobOffer, JobResult } from '../../protocol/index.ts';
import type { Marker } from './run-marker.ts';
import type { RunReport } from './verdict/verdict.ts';

/**
 * The next step of a job that may run. execution.ts executes it. Pure.
 */
export type Step =
  /** Check the hardware id and read the version. */
  | 'identify'
  /** Read the marker of an earlier run on the router. */
  | 'inspect'
  | 'check_syntax'
  | 'back_up'
  /** Arm the undo guard. */
  | 'arm'
  /** Store the script on the router. */
  | 'prepare'
  /** BEGIN to the journal. */
  | 'begin'
  /** BEGIN to the journal for a run that was begun before the agent's disk was restored; it is not run again. */
  | 'record_run'
  | 'run'
  /** Find out how the run ended, by the marker and other evidence. */
  | 'resolve'
  /** Find out whether the script's changes stay or the router undoes them. */
  | 'confirm'
  /** Remove the guard of a script that did not run: before other steps, and at the end. */
  | 'disarm'
  /** END to the journal. */
  | 'end';

/** Progress of a job so far. */
export interface Progress {
  /** RouterOS version, once the device is identified. */
  version: string | undefined;
  marker: Marker | undefined;
  isChecked: boolean;
  isBackedUp: boolean;
  isPrepared: boolean;
  /** No trace of a run was found, so a restore point found later is this agent's own preparation. */
  isUnused: boolean;
  /** The undo guard is armed. */
  isArmed: boolean;
  /** Parts of a guard, of this process or an earlier one, may be on the router although nothing ran. */
  isGuardLeft: boolean;
  /** BEGIN is in the journal. */
  isBegun: boolean;
  /** Result of the call. The call of a job that an earlier process began is lost. */
  report: RunReport | undefined;
  /** Outcome of the script, before it is known whether the router undoes it. */
  verdict: JobResult | undefined;
  result: JobResult | undefined;
}

/** @param isGuarded the router may have a guard of an earlier process, also without a record in this journal */
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

/** BEGIN without END in the journal: the job never runs again, the marker decides. */
export function resumedProgress(): Progress {
  return { ...freshProgress(), isBegun: true, report: { kind: 'lost', late: false } };
}

/** After a broken session everything that was only observed is read again. */
export function afterBrokenSession(progress: Progress): Progress {
  return { ...progress, version: undefined, marker: undefined, isArmed: false, isPrepared: false };
}

export function nextStep(progress: Progress, offer: Pick<JobOffer, 'make_backup' | 'undo_unless_reachable_seconds'>): Step {
  if (progress.result) return progress.isGuardLeft ? 'disarm' : 'end';
  if (progress.verdict) return 'confirm';
  if (progress.isBegun) return progress.report ? 'resolve' : 'run';
  if (progress.version === undefined) return 'identify';
  if (progress.marker === undefined) return 'inspect';
  // The router has a marker of a run that is not in the journal: the agent's disk was restored.
  if (hasBegun(progress.marker)) return 'record_run';
  // The guard would fire during the next steps: a backup alone takes minutes.
  if (progress.isGuardLeft && !progress.isArmed) return 'disarm';
  if (!progress.isChecked) return 'check_syntax';
  if (offer.make_backup && !progress.isBackedUp) return 'back_up';
  if (offer.undo_unless_reachable_seconds !== undefined && !progress.isArmed) return 'arm';
  if (!progress.isPrepared) return 'prepare';
  return 'begin';
}

/** Markers that the script itself writes. None of them is in a restore point. */
export function hasBegun(marker: Marker): boolean {
  return marker.state === 'begun' || marker.state === 'done' || marker.state === 'error';
}
