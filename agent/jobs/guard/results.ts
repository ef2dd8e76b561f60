import type { JobResult } from '../../../protocol/index.ts';

/** What a guarded job's result becomes when the router has undone the script, or should have. Pure. */

const ROLLED_BACK =
  'the router or the control plane could not be reached after the script; the router has restored its configuration from before it';

/** @param isKnown false: the journal is older than the guard, so it is unknown whether the script ran before */
export function rolledBack(verdict: JobResult, isKnown: boolean): JobResult {
  // It certainly never ran.
  if (verdict.reason === 'rejected') return verdict;
  if (!isKnown) return { ...verdict, outcome: 'unknown', reason: 'interrupted', error: 'the script was undone or never ran' };
  const error = verdict.outcome === 'failed' && verdict.error !== null ? `${ROLLED_BACK}. The script: ${verdict.error}` : ROLLED_BACK;
  return { ...verdict, outcome: 'failed', reason: 'rolled_back', error: error.slice(0, 4000) };
}

/** The router should have undone the script and has not. */
export function notUndone(verdict: JobResult): JobResult {
  if (verdict.outcome !== 'completed') return verdict;
  const error = 'the script completed, but its guard could not be disarmed in time, and the router did not undo it';
  return { ...verdict, outcome: 'unknown', reason: 'interrupted', error };
}
