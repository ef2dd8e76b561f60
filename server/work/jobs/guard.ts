import { isFinished } from './state.ts';
import type { Phase } from './state.ts';
import type { JobRecord } from './types.ts';

export const GUARD_STATES = ['armed', 'disarmed', 'fired', 'unknown'] as const;
export type GuardState = (typeof GUARD_STATES)[number];

/** The undo guard of a job. */
export interface GuardView {
  state: GuardState;
  /** Milliseconds since 1970; null where the agent did not say. */
  armedAt: number | null;
  /** Seconds until the router undoes the script; null unless it is armed. */
  firesInSeconds: number | null;
}

type Guarded = Pick<
  JobRecord,
  'undo_seconds' | 'phase' | 'reason' | 'started_at' | 'completed_at' | 'guard_state' | 'guard_armed_at' | 'guard_fires_at'
>;

/** What is known of the undo guard, from what the agent has said; null for a job without one, or of which none was armed. */
export function guardOf(job: Guarded, now: number): GuardView | null {
  if (job.undo_seconds === null) return null;
  const armedAt = job.guard_armed_at;
  if (job.guard_state === 'armed') {
    const left = Math.ceil(((job.guard_fires_at ?? now) - now) / 1000);
    // Whether it fired, nobody has said.
    if (left <= 0 || isFinished(job.phase as Phase)) return { state: 'unknown', armedAt, firesInSeconds: null };
    return { state: 'armed', armedAt, firesInSeconds: left };
  }
  if (job.guard_state !== null) return { state: job.guard_state as GuardState, armedAt, firesInSeconds: null };
  return job.phase === 'running' || job.phase === 'unknown' || job.started_at !== null
    ? { state: 'unknown', armedAt, firesInSeconds: null }
    : null;
}
