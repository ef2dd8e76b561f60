import type { JobGuard, JobResult, OpenJob } from '../../../../protocol/index.ts';
import type { AgentConnection, AgentGateway } from '../../../platform/core/agent-gateway.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { Gathered } from '../../../platform/core/gathered.ts';
import type { Listeners } from '../../../platform/core/listeners.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { JobChanges } from '../changes.ts';
import { CANCEL_REQUESTED } from '../state.ts';
import { selectJobOfTeam } from '../store.ts';
import type { GuardChange, JobRecord, JobRules } from '../types.ts';
import { concernsAll, giveUpUnlisted, noteGuard, selectHeldBefore, storeReports } from './store.ts';
import type { Report, Reporter } from './store.ts';

/** Entries of an agent's list that are reconciled together: they share group commits. */
const RECONCILED_AT_ONCE = 100;
/** Agents whose jobs are read by one statement. */
const AGENTS_AT_ONCE = 200;
/** Reports of one transaction: on PostgreSQL 0.2 ms each, while later reports wait. */
const REPORTS_AT_ONCE = 100;
/** Ids in one statement. */
const GIVEN_UP_AT_ONCE = 500;

export interface HandOverDeps {
  storage: Storage;
  gateway: Pick<AgentGateway, 'notify'>;
  clock: Clock;
  log: Log;
  rules: JobRules;
  changes: JobChanges;
  guardChanges: Listeners<GuardChange>;
  /** How far statements for agents are apart when many connect (AGENTS_APART_MS); 0 unless given. */
  agentsApartMs?: number;
}

/** What became of a report. */
interface Stored {
  job: JobRecord | undefined;
}

/**
 * Turns agents' job messages into transitions and answers. Invariants:
 * - `go` is sent only for a job that this agent has accepted and whose cancellation has not been requested;
 * - a result is acknowledged only after the commit that stored it. If storing fails, nothing is sent and the agent
 *   repeats the result at its next `ready`;
 * - every method is idempotent.
 */
export class HandOver {
  readonly #deps: HandOverDeps;
  /** After a restart all agents reconcile their jobs, and nearly all of them hold none. */
  readonly #heldBefore: Gathered<Reporter, string[]>;
  /** A campaign has hundreds of jobs begin and end at the same time. */
  readonly #reports: Gathered<Report, Stored | undefined>;

  constructor(deps: HandOverDeps) {
    this.#deps = deps;
    this.#heldBefore = new Gathered({
      most: AGENTS_AT_ONCE,
      apartMs: deps.agentsApartMs ?? 0,
      run: (reporters) => selectHeldBefore(deps.storage.db, reporters),
    });
    this.#reports = new Gathered({
      most: REPORTS_AT_ONCE,
      // What is said of one job is stored one after the other.
      keyOf: ({ jobId }) => jobId,
      run: (reports) => this.#storeTogether(reports),
    });
  }

  /**
   * Reconciles an agent's job list with the database: every entry in it, and every job that the agent should hold but does not list.
   * @throws AppError when the database cannot be used. Then do not offer anything on this tunnel
   */
  async reconcile(connection: AgentConnection, entries: readonly OpenJob[]): Promise<void> {
    for (let start = 0; start < entries.length; start += RECONCILED_AT_ONCE) {
      await Promise.all(entries.slice(start, start + RECONCILED_AT_ONCE).map((entry) => this.#reconcileEntry(connection, entry)));
    }
    const named = new Set(entries.map((entry) => entry.job_id));
    const held = await this.#heldBefore.call(reporterOf(connection));
    await this.#giveUp(
      connection,
      held.filter((id) => !named.has(id)),
    );
  }

  async stop(): Promise<void> {
    await Promise.all([this.#heldBefore.stop(), this.#reports.stop()]);
  }

  async #reconcileEntry(connection: AgentConnection, entry: OpenJob): Promise<void> {
    switch (entry.state) {
      case 'accepted':
        await this.#reconcileAccepted(connection, entry.job_id);
        return this.#reconcileGuard(connection, entry);
      case 'begun':
        await this.began(connection, entry.job_id);
        return this.#reconcileGuard(connection, entry);
      case 'refused':
        return this.refused(connection, entry.job_id);
      case 'ended':
        return this.ended(connection, entry.job_id, entry.result);
    }
  }

  /** The agent has stored the job on disk and asks for permission to run it. */
  async accepted(connection: AgentConnection, jobId: string): Promise<void> {
    const job = await this.#accept(connection, jobId);
    this.#answerAccepted(connection, jobId, job);
  }

  /** Like {@link accepted}, but the agent's list is its present state: a job that has begun must not be listed as accepted. */
  async #reconcileAccepted(connection: AgentConnection, jobId: string): Promise<void> {
    const job = await this.#accept(connection, jobId);
    // The agent's journal has lost the BEGIN, so the job must not get a second permission to run.
    if (job?.phase === 'running' && job.agent_id === connection.agentId) await this.#giveUp(connection, [jobId]);
    const isContradiction = job?.phase === 'running';
    if (isContradiction) this.#send(connection, { type: 'job.revoke', job_id: jobId });
    else this.#answerAccepted(connection, jobId, job);
  }

  /** Tries to accept the job. @returns its present state */
  async #accept(connection: AgentConnection, jobId: string): Promise<JobRecord | undefined> {
    const { storage, rules } = this.#deps;
    const { graceMs, backupMs } = rules;
    const accepted = await this.#store({ kind: 'accept', reporter: reporterOf(connection), jobId, graceMs, backupMs });
    return accepted ?? selectJobOfTeam(storage.db, connection.teamId, jobId);
  }

  #answerAccepted(connection: AgentConnection, jobId: string, job: JobRecord | undefined): void {
    const isItsOwn = job?.agent_id === connection.agentId;
    if (isItsOwn && job.phase === 'accepted' && job.reason !== CANCEL_REQUESTED) {
      this.#send(connection, { type: 'job.go', job_id: jobId });
    } else if (!isItsOwn || job.phase !== 'running') {
      // Expired, canceled, given up or unknown to this database. (Running: a late duplicate, which needs no answer.)
      this.#send(connection, { type: 'job.revoke', job_id: jobId });
    }
  }

  async began(connection: AgentConnection, jobId: string): Promise<void> {
    await this.#store({ kind: 'begin', reporter: reporterOf(connection), jobId, graceMs: this.#deps.rules.graceMs });
  }

  async ended(connection: AgentConnection, jobId: string, result: JobResult): Promise<void> {
    await this.#store({ kind: 'end', reporter: reporterOf(connection), jobId, result });
    this.#send(connection, { type: 'job.ack', job_id: jobId });
  }

  async refused(connection: AgentConnection, jobId: string): Promise<void> {
    await this.#store({ kind: 'refuse', reporter: reporterOf(connection), jobId });
    this.#send(connection, { type: 'job.ack', job_id: jobId });
  }

  /** The agent repeats that a guard is armed: the message may have been lost. */
  async #reconcileGuard(
    connection: AgentConnection,
    { job_id: jobId, guard }: Exclude<OpenJob, { state: 'refused' | 'ended' }>,
  ): Promise<void> {
    if (guard) await this.guarded(connection, { job_id: jobId, state: 'armed', fires_in_ms: guard.fires_in_ms });
  }

  /** The undo guard of a job that this agent holds is armed or removed. No transition: nothing is answered. */
  async guarded(connection: AgentConnection, { job_id: jobId, state, fires_in_ms: firesInMs }: Omit<JobGuard, 'type'>): Promise<void> {
    const { storage, clock, guardChanges } = this.#deps;
    const change = { jobId, state, firesInMs, now: clock.now() };
    const job = await storage.writes.write((tx) => noteGuard(tx, reporterOf(connection), change));
    if (job) guardChanges.publish({ kind: state, job });
  }

  async #giveUp(connection: AgentConnection, jobIds: readonly string[]): Promise<void> {
    const { storage, clock, changes, log } = this.#deps;
    for (let start = 0; start < jobIds.length; start += GIVEN_UP_AT_ONCE) {
      const ids = jobIds.slice(start, start + GIVEN_UP_AT_ONCE);
      const jobs = await storage.writes.write((tx) => giveUpUnlisted(tx, reporterOf(connection), ids, clock.now()));
      log.warn({ agent_id: connection.agentId, count: jobs.length }, 'the agent no longer lists jobs that it had accepted');
      for (const job of jobs) changes.publish(job);
    }
  }

  /** @returns the changed job; undefined when the report changes nothing */
  async #store(report: Report): Promise<JobRecord | undefined> {
    const { job } = (await this.#reports.call(report)) ?? (await this.#storeAll([report]))[0]!;
    if (job) this.#deps.changes.publish(job);
    return job;
  }

  /** @returns undefined for those that have to be stored by themselves: none fails for another */
  async #storeTogether(reports: readonly Report[]): Promise<(Stored | undefined)[]> {
    try {
      return await this.#storeAll(reports);
    } catch (error) {
      if (reports.length === 1 || concernsAll(error)) throw error;
      return reports.map(() => undefined);
    }
  }

  async #storeAll(reports: readonly Report[]): Promise<Stored[]> {
    const { storage, clock } = this.#deps;
    const jobs = await storage.writes.write((tx) => storeReports(tx, reports, clock.now()));
    return jobs.map((job) => ({ job }));
  }

  #send(connection: AgentConnection, message: Parameters<AgentGateway['notify']>[1]): void {
    this.#deps.gateway.notify(connection.agentId, message);
  }
}

function reporterOf({ teamId, agentId, epoch }: AgentConnection): Reporter {
  return { teamId, agentId, epoch };
}
