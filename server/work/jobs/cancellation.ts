import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError, notFound } from '../../platform/core/errors.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { JobChanges } from './changes.ts';
import { CANCEL_REQUESTED, isFinished } from './state.ts';
import type { Phase } from './state.ts';
import { cancelQueued, deleteFinished, requestCancel, selectJob } from './store.ts';
import type { NotedBy } from './timeline/notes.ts';
import type { Cancellation, JobRecord, JobRules } from './types.ts';

/** A DELETE that loses a race against a transition tries again; phases only move forward. */
const CANCEL_TRIES = 4;

export interface CancellerDeps {
  storage: Storage;
  gateway: Pick<AgentGateway, 'notify'>;
  clock: Clock;
  rules: Pick<JobRules, 'revokeWaitMs'>;
  changes: JobChanges;
}

/** Cancels jobs: queued ones at once, accepted ones by asking their agent to give them back. */
export class JobCanceller {
  readonly #deps: CancellerDeps;

  constructor(deps: CancellerDeps) {
    this.#deps = deps;
  }

  /**
   * Cancels the job, or marks a finished one as deleted. Repeating it changes nothing.
   * @throws AppError `conflict` once the script has begun or the job has ended; `not_found` when the job is deleted meanwhile
   */
  async cancel(first: JobRecord, by?: NotedBy): Promise<Cancellation> {
    const wasOpen = !isFinished(first.phase as Phase);
    let job = first;
    for (let attempt = 0; attempt < CANCEL_TRIES; attempt += 1) {
      if (job.phase === 'running') throw new AppError('conflict', 'the script has begun and cannot be recalled');
      if (wasOpen && hasResult(job)) throw new AppError('conflict', 'the job has just ended and can no longer be canceled');
      if (job.deleted_at !== null) return { state: 'deleted', job };
      const outcome = await this.#tryCancel(job, by);
      if (outcome) return outcome;
      job = await this.#read(first);
    }
    throw new AppError('conflict', 'the job is changing; try again');
  }

  /** Undefined when the job has changed meanwhile. */
  async #tryCancel(job: JobRecord, by?: NotedBy): Promise<Cancellation | undefined> {
    const { storage, clock, changes } = this.#deps;
    const target = { teamId: job.team_id, jobId: job.id, now: clock.now(), by };
    if (job.phase === 'accepted') return this.#askAgent(job, by);
    const change = job.phase === 'queued' ? cancelQueued : deleteFinished;
    const deleted = await storage.writes.write((tx) => change(tx, target));
    if (!deleted) return undefined;
    changes.publish(deleted);
    return { state: 'deleted', job: deleted };
  }

  /** Asks the agent to give the job back and waits briefly for its answer. Undefined when the job has changed meanwhile. */
  async #askAgent(job: JobRecord, by?: NotedBy): Promise<Cancellation | undefined> {
    const { storage, clock, rules, gateway, changes } = this.#deps;
    const wait = changes.next(job.id, clock, rules.revokeWaitMs);
    try {
      const target = { teamId: job.team_id, jobId: job.id, now: clock.now(), by };
      const asked = await storage.writes.write((tx) => requestCancel(tx, target));
      if (!asked) return undefined;
      const isSent = asked.agent_id !== null && gateway.notify(asked.agent_id, { type: 'job.revoke', job_id: job.id });
      if (isSent) await wait.changed;
      const now = await this.#read(job);
      return now.phase === 'accepted' && now.reason === CANCEL_REQUESTED ? { state: 'requested', job: now } : undefined;
    } finally {
      wait.stop();
    }
  }

  async #read({ team_id: teamId, router_id: routerId, id }: JobRecord): Promise<JobRecord> {
    const job = await selectJob(this.#deps.storage.db, teamId, routerId, id);
    if (!job) throw notFound('job');
    return job;
  }
}

/** The agent has reported how the job ended, possibly without a run (a failed backup, a syntax error). */
function hasResult(job: JobRecord): boolean {
  return job.phase === 'done' && job.reason !== 'rejected';
}
