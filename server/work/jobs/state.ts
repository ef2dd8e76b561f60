import type { JobResult } from '../../../protocol/index.ts';
import type { JobRecord } from './types.ts';

/**
 * The phases of a job, its transitions, and the status that the API shows. Pure: store.ts turns each transition into one
 * conditional UPDATE whose condition is `FROM[transition]`.
 */

export const PHASES = ['queued', 'accepted', 'running', 'done', 'expired', 'canceled', 'unknown'] as const;
export type Phase = (typeof PHASES)[number];

export const STATUSES = ['pending', 'running', 'completed', 'failed', 'deleted', 'expired', 'unknown'] as const;
export type Status = (typeof STATUSES)[number];

export type Transition = 'accept' | 'begin' | 'end' | 'expire' | 'cancel' | 'refuse' | 'give_up';

/**
 * The phases from which each transition can start.
 * - `accept` is the only permission to run, so only a queued job can be accepted.
 * - `begin` and `end` are facts that an agent reports. They are believed even when the control plane's database says that
 *   the job was never sent: the database may have been restored from a backup. To show such a job as anything else would
 *   be false, and to offer it again would run it twice.
 * - `end` corrects `unknown`; it never changes an earlier end.
 * - `refuse` means that the agent has not begun the job and never will. It proves nothing about an `unknown` job: that job
 *   may have run before the agent's disk was restored.
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

/** Phases in which an agent holds the job: the router has a job under way. */
export const HELD: readonly Phase[] = ['accepted', 'running'];

/** The reason of an accepted job whose agent has been asked to give it back. */
export const CANCEL_REQUESTED = 'cancel_requested';

/** `end` leads to `done`, unless even the agent cannot know what the script did. */
export function phaseOfResult(result: JobResult): Phase {
  return result.outcome === 'unknown' ? 'unknown' : 'done';
}

type StatusColumns = Pick<JobRecord, 'phase' | 'completed_at' | 'failed_at' | 'deleted_at'>;

/**
 * The public status. A job without acknowledgement is completed once its agent has it on disk, and stays completed: `phase`,
 * `reason` and `error` report what its script did later.
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

/** True when no further transition is expected. A late result may still correct `unknown`. */
export function isFinished(phase: Phase): boolean {
  return phase === 'done' || phase === 'expired' || phase === 'canceled' || phase === 'unknown';
}

/** The rows that have a status: what the list's filter selects in the database. */
export interface StatusFilter {
  phases: readonly Phase[];
  completed?: boolean;
  failed?: boolean;
  deleted: boolean;
}

/** For each status, the conditions of {@link statusOf}. A row has the status when it matches any of them. */
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
