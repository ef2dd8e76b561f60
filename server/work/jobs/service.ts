import type { Heartbeat, JobDeclined, JobResult, OpenJob } from '../../../protocol/index.ts';
import type { SharedUse } from '../../../runtime/fair-shares.ts';
import type { AgentConnection, AgentEvents, AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { AppError, invalidField, notFound } from '../../platform/core/errors.ts';
import { newId, newSecret } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Found, ListPage } from '../../platform/core/list-page.ts';
import type { Page } from '../../platform/core/page.ts';
import type { AddressRules } from '../../platform/core/public-address.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { RouterRecord } from '../../fleet/routers/types.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import { JobChanges } from './changes.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { HandOver } from './hand-over/hand-over.ts';
import { findJobs } from './list/store.ts';
import type { JobFilter, JobOverview } from './list/types.ts';
import { whyNotNotify } from './notify-url.ts';
import { insertMissedEvents } from './outbox/store.ts';
import { OpenJobs } from './open-jobs.ts';
import { OutputRetention } from './retention/outputs.ts';
import { JobRetention } from './retention/retention.ts';
import { CANCEL_REQUESTED, isFinished } from './state.ts';
import type { Phase, Status } from './state.ts';
import { cancelQueued, deleteFinished, insertJob, isRouterThere, requestCancel, selectJob, selectJobByKey, selectJobs } from './store.ts';
import { JobSweeper } from './sweeper.ts';
import { cancelQueuedOf, giveUpHeldOf, selectHeldOf } from './withdrawal/store.ts';
import type { Cancellation, JobRecord, JobRequest, JobRules, NewJob, Withdrawal } from './types.ts';

export { statusOf } from './state.ts';

/** A key is remembered for a day (server/platform/idempotency); a later one makes a new job. */
const KEY_KEPT_MS = 24 * 3600_000;
/** `token`: a handle of the job that cannot be guessed. */
const TOKEN_CHARS = 32;
/** A DELETE that loses a race against a transition looks again; phases only move forward. */
const CANCEL_TRIES = 4;

export interface JobsDeps {
  storage: Storage;
  gateway: Pick<AgentGateway, 'notify'>;
  routers: Pick<RoutersService, 'getRouter'>;
  clock: Clock;
  log: Log;
  rules: JobRules;
  notifyUrls: AddressRules;
  counters?: Counters | undefined;
  /** Spreads repeated offers; for tests. */
  random?: () => number;
}

type BesideJob = (tx: Tx, job: JobRecord) => Promise<void>;

type JobEvents = Pick<
  AgentEvents,
  'onReady' | 'onGone' | 'onHeartbeat' | 'onJobAccepted' | 'onJobDeclined' | 'onJobBegan' | 'onJobEnded' | 'onJobRefused'
>;

/** Jobs: created by callers, handed to agents, run once, reported. The protocol is docs/job-handover.md. */
export class JobsService implements JobEvents {
  /** Every change of a job's row that this process made. */
  readonly changes = new JobChanges();
  readonly #deps: JobsDeps;
  readonly #handOver: HandOver;
  readonly #dispatcher: Dispatcher;
  readonly #sweeper: JobSweeper;
  readonly #retention: JobRetention;
  readonly #outputs: OutputRetention;
  readonly #openJobs: OpenJobs;

  constructor(deps: JobsDeps) {
    this.#deps = deps;
    this.#openJobs = new OpenJobs(deps);
    this.#handOver = new HandOver({ ...deps, changes: this.changes });
    this.#dispatcher = new Dispatcher(deps);
    this.#sweeper = new JobSweeper({ ...deps, changes: this.changes });
    this.#outputs = new OutputRetention(deps);
    this.#retention = new JobRetention({ ...deps, keepMs: deps.rules.keepMs });
    this.changes.subscribe((job) => {
      this.#outputs.changed(job);
      if (isFinished(job.phase as Phase)) this.#dispatcher.routerIsFree(job.agent_id, job.router_id);
    });
  }

  /** Offers that wait for their answer. */
  get offers(): SharedUse {
    return this.#dispatcher.unanswered;
  }

  start(): void {
    this.#dispatcher.start();
    this.#sweeper.start();
    this.#retention.start();
    this.#outputs.start();
  }

  async stop(): Promise<void> {
    await this.#dispatcher.stop();
    await this.#sweeper.stop();
    await this.#retention.stop();
    await this.#outputs.stop();
  }

  /**
   * Stores a job; when this resolves it is on disk. A key that the caller chose finds its earlier job again.
   * @param beside what is stored in the same transaction as a new job; if it throws there is no job
   * @throws AppError `not_found` for the router, `invalid` for the URL, `quota_exceeded` when too many jobs of the team have not ended
   */
  async createJob(teamId: string, routerId: string, wanted: NewJob, request: JobRequest, beside?: BesideJob): Promise<JobRecord> {
    this.checkNotifyUrl(wanted.notifyUrl);
    const router = await this.#deps.routers.getRouter(teamId, routerId);
    const { job, isNew } = await this.#store(router, wanted, request, beside);
    if (isNew) {
      await this.#openJobs.added(teamId);
      this.changes.publish(job);
    }
    if (wanted.expressExecute) this.#dispatcher.expressIsWaiting(router.agent_id);
    return job;
  }

  /** For jobs that are made later. @throws AppError `invalid` */
  checkNotifyUrl(notifyUrl: string | undefined): void {
    const refused = notifyUrl === undefined ? undefined : whyNotNotify(notifyUrl, this.#deps.notifyUrls);
    if (refused !== undefined) throw invalidField('notify_url', refused);
  }

  async #store(
    router: RouterRecord,
    wanted: NewJob,
    request: JobRequest,
    beside: BesideJob | undefined,
  ): Promise<{ job: JobRecord; isNew: boolean }> {
    const now = this.#deps.clock.now();
    const values = this.#valuesOf(router, wanted, request, now);
    const open = await this.#openJobs.count(router.team_id);
    return this.#deps.storage.writes.write(async (tx) => {
      const key = { ...values, since: now - KEY_KEPT_MS };
      const earlier = request.keyGiven ? await selectJobByKey(tx, key) : undefined;
      if (earlier) return { job: earlier, isNew: false };
      this.#openJobs.check(open);
      const job = await insertJob(tx, values);
      // Asked behind the insert, which waits for a removal that is under way.
      if (!(await isRouterThere(tx, values))) throw notFound('router');
      await beside?.(tx, job);
      return { job, isNew: true };
    });
  }

  #valuesOf(router: RouterRecord, wanted: NewJob, request: JobRequest, now: number) {
    const { rules } = this.#deps;
    const deliveryMs = wanted.deliverWithinMinutes === undefined ? rules.defaultDeliveryMs : wanted.deliverWithinMinutes * 60_000;
    return {
      id: newId(now),
      teamId: router.team_id,
      routerId: router.id,
      siteId: router.site_id,
      token: newSecret(TOKEN_CHARS),
      requestId: request.requestId,
      idempotencyKey: request.idempotencyKey,
      description: wanted.description,
      script: wanted.script,
      expressExecute: wanted.expressExecute,
      needsAcknowledgement: wanted.needsAcknowledgement,
      makeBackup: wanted.makeBackup,
      notifyUrl: wanted.notifyUrl ?? null,
      undoSeconds: wanted.undoSeconds ?? null,
      timeoutMs: wanted.timeoutSeconds === undefined ? rules.defaultTimeoutMs : wanted.timeoutSeconds * 1000,
      createdBy: request.createdBy ?? null,
      createdVia: request.createdVia ?? null,
      now,
      expiresAt: now + deliveryMs,
    };
  }

  /** Newest first. @throws AppError `not_found` for the router */
  async listJobs(teamId: string, routerId: string, statuses: readonly Status[], page: Page): Promise<JobRecord[]> {
    const router = await this.#deps.routers.getRouter(teamId, routerId, { orRemoved: true });
    return selectJobs(this.#deps.storage.db, { teamId, routerId: router.id, statuses, page });
  }

  /** One page of the jobs of a team that match. */
  findJobs(teamId: string, filter: JobFilter, page: ListPage, wantsTotal: boolean): Promise<Found<JobOverview>> {
    return findJobs(this.#deps.storage.db, teamId, filter, page, wantsTotal);
  }

  /** @throws AppError `not_found` */
  async getJob(teamId: string, routerId: string, jobId: string): Promise<JobRecord> {
    const job = await selectJob(this.#deps.storage.db, teamId, routerId, jobId);
    if (!job) throw notFound('job');
    return job;
  }

  /**
   * Takes a job back, or marks a finished one as deleted; repeating it changes nothing. A job that its agent holds but
   * may not have begun is asked back: `requested` when the answer is not there yet.
   * @throws AppError `not_found`; `conflict` once the script has begun, because it cannot be recalled
   */
  async cancelJob(teamId: string, routerId: string, jobId: string): Promise<Cancellation> {
    return this.#cancel(await this.getJob(teamId, routerId, jobId));
  }

  /**
   * As {@link cancelJob} for a job that is not finished; undefined for one that is, which stays as it is.
   * @throws AppError as {@link cancelJob}
   */
  async takeBackJob(teamId: string, routerId: string, jobId: string): Promise<Cancellation | undefined> {
    const job = await this.getJob(teamId, routerId, jobId);
    return isFinished(job.phase as Phase) ? undefined : this.#cancel(job);
  }

  async #cancel(first: JobRecord): Promise<Cancellation> {
    const { team_id: teamId, router_id: routerId, id: jobId } = first;
    const isWithdrawn = !isFinished(first.phase as Phase);
    let job = first;
    for (let attempt = 0; attempt < CANCEL_TRIES; attempt += 1) {
      if (job.phase === 'running' || (isWithdrawn && hasRun(job))) throw tooLate();
      if (job.deleted_at !== null) return { state: 'deleted', job };
      const change = await this.#tryCancel(job);
      if (change) return change;
      job = await this.getJob(teamId, routerId, jobId);
    }
    throw new AppError('conflict', 'the job is changing; try again');
  }

  /** Undefined when the job has moved on meanwhile. */
  async #tryCancel(job: JobRecord): Promise<Cancellation | undefined> {
    const { storage, clock } = this.#deps;
    const target = { teamId: job.team_id, jobId: job.id, now: clock.now() };
    if (job.phase === 'accepted') return this.#askBack(job);
    const change = job.phase === 'queued' ? cancelQueued : deleteFinished;
    const deleted = await storage.writes.write((tx) => change(tx, target));
    if (!deleted) return undefined;
    this.changes.publish(deleted);
    return { state: 'deleted', job: deleted };
  }

  async #askBack(job: JobRecord): Promise<Cancellation | undefined> {
    const { storage, clock, rules, gateway } = this.#deps;
    const wait = this.changes.next(job.id, clock, rules.revokeWaitMs);
    try {
      const target = { teamId: job.team_id, jobId: job.id, now: clock.now() };
      const asked = await storage.writes.write((tx) => requestCancel(tx, target));
      if (!asked) return undefined;
      const isSent = asked.agent_id !== null && gateway.notify(asked.agent_id, { type: 'job.revoke', job_id: job.id });
      if (isSent) await wait.changed;
      const now = await this.getJob(job.team_id, job.router_id, job.id);
      return now.phase === 'accepted' && now.reason === CANCEL_REQUESTED ? { state: 'requested', job: now } : undefined;
    } finally {
      wait.stop();
    }
  }

  /**
   * Ends the jobs of a router that is removed or replaced, inside the write that does so. Publish them in {@link changes} afterwards.
   * @throws AppError `conflict` for a job that an agent holds and can still tell of
   */
  async withdrawFrom(tx: Tx, { agentRevoked, keepQueued = false, reason, error, ...target }: Withdrawal): Promise<JobRecord[]> {
    const held = await selectHeldOf(tx, target, 1);
    if (held.length > 0 && !agentRevoked) {
      throw new AppError('conflict', `job ${held[0]} is under way: wait for its end, or take it back if its script has not begun`);
    }
    const unknown = held.length > 0 ? await giveUpHeldOf(tx, target) : [];
    return keepQueued ? unknown : [...unknown, ...(await cancelQueuedOf(tx, target, { reason, error }))];
  }

  /** The net under the outbox: events of transitions that were stored without one (at most `limit`). @returns how many */
  insertMissedEvents(limit: number): Promise<number> {
    const { storage, clock } = this.#deps;
    return storage.writes.write((tx) => insertMissedEvents(tx, clock.now(), limit));
  }

  // What agents say. A failed write rejects: the tunnel is then closed, and the agent says it again at its next `ready`.

  async onReady(connection: AgentConnection, entries: OpenJob[]): Promise<void> {
    await this.#handOver.settle(connection, entries);
    this.#dispatcher.agentIsReady(connection);
  }

  onGone(connection: AgentConnection): void {
    this.#dispatcher.agentIsGone(connection);
  }

  onHeartbeat(connection: AgentConnection, heartbeat: Heartbeat): void {
    const names = heartbeat.routers.filter((beat) => beat.reachable).map((beat) => beat.name);
    if (names.length > 0) this.#dispatcher.checkedIn(connection.agentId, names);
  }

  async onJobAccepted(connection: AgentConnection, jobId: string): Promise<void> {
    await this.#handOver.accepted(connection, jobId);
    this.#dispatcher.accepted(connection.agentId, jobId);
  }

  onJobDeclined(connection: AgentConnection, declined: JobDeclined): Promise<void> {
    this.#dispatcher.declined(connection.agentId, declined);
    return Promise.resolve();
  }

  // An offer of a job that the agent's journal knows already is answered by what became of it (the database was restored).

  async onJobBegan(connection: AgentConnection, jobId: string): Promise<void> {
    await this.#handOver.began(connection, jobId);
    this.#dispatcher.alreadyKnown(connection.agentId, jobId);
  }

  async onJobEnded(connection: AgentConnection, jobId: string, result: JobResult): Promise<void> {
    await this.#handOver.ended(connection, jobId, result);
    this.#dispatcher.alreadyKnown(connection.agentId, jobId);
  }

  async onJobRefused(connection: AgentConnection, jobId: string): Promise<void> {
    await this.#handOver.refused(connection, jobId);
    this.#dispatcher.refused(connection.agentId, jobId);
  }
}

/** The agent's word on the script has come: nothing can be taken back any more. */
function hasRun(job: JobRecord): boolean {
  return job.phase === 'done' && job.reason !== 'rejected';
}

function tooLate(): AppError {
  return new AppError('conflict', 'the script has begun and cannot be recalled');
}
