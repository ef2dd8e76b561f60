import type { JobResult } from '../../../protocol/index.ts';
import type { JobRecord } from './types.ts';

/**
 * The phases of a job, who may leave which, and what the caller is told. Pure: store.ts turns each transition into
 * one conditional UPDATE whose condition is `FROM[transition]`.
 */

export const PHASES = ['queued', 'accepted', 'running', 'done', 'expired', 'canceled', 'unknown'] as const;
export type Phase = (typeof PHASES)[number];

export const STATUSES = ['pending', 'running', 'completed', 'failed', 'deleted', 'expired', 'unknown'] as const;
export type Status = (typeof STATUSES)[number];

export type Transition = 'accept' | 'begin' | 'end' | 'expire' | 'cancel' | 'refuse' | 'give_up';

/**
 * Phases each transition may start from.
 * - `accept` is the only permission to run, so nothing but a queued job has it.
 * - `begin` and `end` are facts that an agent reports. They are believed even where the control plane thought the job
 *   had not left (its database may have been restored from a backup): calling such a job anything else would be false,
 *   and offering it again would run it twice.
 * - `end` corrects `unknown`; it never changes an earlier end.
 * - `refuse` means that the agent never began and never will. It says nothing about an `unknown` job: that may have run
 *   in an earlier life of the agent, before its disk was restored.
 */
export const FROM: Record<Transition, readonly Phase[]> = {
  accept: ['queued'],
  begin: ['queued', 'accepted'],
  end: ['queued', 'accepted', 'running', 'expired', 'canceled', 'unknown'],
  expire: ['queued'],
  cancel: ['queued'],
  refuse: ['accepted'],
  give_up: ['accepted', 'running'],
};

export function allows(transition: Transition, phase: Phase): boolean {
  return FROM[transition].includes(phase);
}

/** Phases that an agent holds: the router has a job under way. */
export const HELD: readonly Phase[] = ['accepted', 'running'];

/** An accepted job whose agent has been asked to give it back carries this as its reason. */
export const CANCEL_REQUESTED = 'cancel_requested';

/** `end` leads to `done`, unless even the agent cannot know what the script did. */
export function phaseOfResult(result: JobResult): Phase {
  return result.outcome === 'unknown' ? 'unknown' : 'done';
}

type StatusColumns = Pick<JobRecord, 'phase' | 'completed_at' | 'failed_at' | 'deleted_at'>;

/**
 * The public status. A job without acknowledgement is completed once its agent has it on disk, and stays so: what
 * its script did later is told by `phase`, `reason` and `error`.
 */
export function statusOf(job: StatusColumns): Status {
  if (job.deleted_at !== null) return 'deleted';
  const phase = job.phase as Phase;
  switch (phase) {
    case 'queued':
      return 'pending';
    case 'accepted':
      return job.completed_at === null ? 'pending' : 'completed';
    case 'running':
      return job.completed_at === null ? 'running' : 'completed';
    case 'done':
      return job.failed_at === null ? 'completed' : 'failed';
    case 'unknown':
      return job.completed_at === null ? 'unknown' : 'completed';
    case 'expired':
      return 'expired';
    case 'canceled':
      return 'deleted';
  }
}

/** True when nothing more is expected to happen to the job; a late result may still correct `unknown`. */
export function isFinished(phase: Phase): boolean {
  return phase === 'done' || phase === 'expired' || phase === 'canceled' || phase === 'unknown';
}

/** Which rows a status is: what the list's filter asks the database for. */
export interface StatusFilter {
  phases: readonly Phase[];
  completed?: boolean;
  failed?: boolean;
  deleted: boolean;
}

/** The conditions that {@link statusOf} decides by, for one status. Rows match any of them. */
export const ROWS_OF: Record<Status, readonly StatusFilter[]> = {
  pending: [
    { phases: ['queued'], deleted: false },
    { phases: ['accepted'], completed: false, deleted: false },
  ],
  running: [{ phases: ['running'], completed: false, deleted: false }],
  completed: [
    { phases: ['accepted', 'running', 'unknown'], completed: true, deleted: false },
    { phases: ['done'], failed: false, deleted: false },
  ],
  failed: [{ phases: ['done'], failed: true, deleted: false }],
  expired: [{ phases: ['expired'], deleted: false }],
  unknown: [{ phases: ['unknown'], completed: false, deleted: false }],
  deleted: [
    { phases: PHASES, deleted: true },
    { phases: ['canceled'], deleted: false },
  ],
};
