import type { Heartbeat, JobDeclined, JobGuard, JobResult, OpenJob } from '../../../protocol/index.ts';
import type { SharedUse } from '../../../runtime/fair-shares.ts';
import type { AgentConnection, AgentEvents, AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { AppError, invalidField, notFound } from '../../platform/core/errors.ts';
import { newId, newSecret } from '../../platform/core/ids.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Found, ListPage } from '../../platform/core/list-page.ts';
import type { Page } from '../../platform/core/page.ts';
import type { AddressRules } from '../../platform/core/public-address.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { RouterRecord } from '../../fleet/routers/types.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import { JobCanceller } from './cancellation.ts';
import { JobChanges } from './changes.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { JobsElsewhere } from './dispatch/elsewhere.ts';
import type { JobsCluster } from './dispatch/elsewhere.ts';
import { HandOver } from './hand-over/hand-over.ts';
import { JobIntake } from './intake/intake.ts';
import type { BesideJobs } from './intake/intake.ts';
import { readJobPage } from './list/pages.ts';
import type { JobPage } from './list/pages.ts';
import { findJobs } from './list/store.ts';
import type { JobFilter, JobOverview } from './list/types.ts';
import { notifyUrlProblem } from './notify-url.ts';
import { insertMissedEvents } from './outbox/store.ts';
import { OpenJobQuota } from './open-job-quota.ts';
import { OutputRetention } from './retention/outputs.ts';
import { JobRetention } from './retention/retention.ts';
import { isFinished } from './state.ts';
import type { Phase, Status } from './state.ts';
import { selectJob } from './store.ts';
import { JobDeadlines } from './deadlines.ts';
import { cancelQueuedOf, giveUpHeldOf, selectHeldOf } from './router-removal/store.ts';
import type { NotedBy } from './timeline/notes.ts';
import type { Cancellation, GuardChange, JobRecord, JobRequest, JobRules, NewJob, RouterJobsEnd } from './types.ts';

export type { BesideJobs } from './intake/intake.ts';
export { statusOf } from './state.ts';

/** A key is valid for a day (server/platform/idempotency). After that it creates a new job. */
const KEY_KEPT_MS = 24 * 3600_000;
/** `token`: a reference to the job that cannot be guessed. */
const TOKEN_CHARS = 32;

export interface JobsDeps {
  storage: Storage;
  /** To every agent. */
  gateway: Pick<AgentGateway, 'notify'>;
  /**
   * To agents of this control plane: offers, and answers to what an agent has said, go on the tunnel that they belong to or nowhere. The same
   * as `gateway` unless given.
   */
  tunnels?: Pick<AgentGateway, 'notify'>;
  /** Set where several control planes serve the database. */
  cluster?: JobsCluster | undefined;
  routers: Pick<RoutersService, 'getRouter'>;
  clock: Clock;
  log: Log;
  rules: JobRules;
  notifyUrls: AddressRules;
  counters?: Counters | undefined;
  /** How far statements for agents are apart when many connect (AGENTS_APART_MS); 0 unless given. */
  agentsApartMs?: number;
  /** Spreads repeated offers. Tests replace it. */
  random?: () => number;
}

type JobEvents = Pick<
  AgentEvents,
  'onReady' | 'onGone' | 'onHeartbeat' | 'onJobAccepted' | 'onJobDeclined' | 'onJobBegan' | 'onJobEnded' | 'onJobRefused'
>;

/** Jobs: callers create them, agents run each once and report the result. docs/job-handover.md describes the protocol. */
export class JobsService implements JobEvents {
  /** Every change of a job's row that this process makes. */
  readonly changes = new JobChanges();
  /** Undo guards that were armed or removed. */
  readonly guardChanges = new Listeners<GuardChange>();
  readonly #deps: JobsDeps;
  readonly #intake: JobIntake;
  readonly #handOver: HandOver;
  readonly #canceller: JobCanceller;
  readonly #dispatcher: Dispatcher;
  readonly #elsewhere: JobsElsewhere | undefined;
  readonly #deadlines: JobDeadlines;
  readonly #retention: JobRetention;
  readonly #outputs: OutputRetention;
  readonly #quota: OpenJobQuota;

  constructor(deps: JobsDeps) {
    this.#deps = deps;
    this.#quota = new OpenJobQuota(deps);
    this.#intake = new JobIntake(deps.storage);
    const onTunnels = { ...deps, gateway: deps.tunnels ?? deps.gateway };
    this.#handOver = new HandOver({ ...onTunnels, changes: this.changes, guardChanges: this.guardChanges });
    this.#canceller = new JobCanceller({ ...deps, changes: this.changes });
    this.#dispatcher = new Dispatcher(onTunnels);
    const { cluster } = deps;
    this.#elsewhere = cluster && new JobsElsewhere({ ...deps, cluster, dispatcher: this.#dispatcher });
    this.#deadlines = new JobDeadlines({ ...deps, changes: this.changes });
    this.#outputs = new OutputRetention(deps);
    this.#retention = new JobRetention({ ...deps, keepMs: deps.rules.keepMs });
    this.changes.subscribe((job) => {
      this.#outputs.changed(job);
      if (isFinished(job.phase as Phase)) this.#routerIsFree(job);
    });
  }

  /** Offers that wait for an answer. */
  get offers(): SharedUse {
    return this.#dispatcher.unanswered;
  }

  start(): void {
    this.#dispatcher.start();
    this.#elsewhere?.start();
    this.#deadlines.start();
    this.#retention.start();
    this.#outputs.start();
  }

  async stop(): Promise<void> {
    await this.#intake.stop();
    await this.#elsewhere?.stop();
    await this.#dispatcher.stop();
    await this.#handOver.stop();
    await this.#deadlines.stop();
    await this.#retention.stop();
    await this.#outputs.stop();
  }

  /**
   * Stores a job; it is on disk when this resolves. A key that the caller chose finds the earlier job.
   * @param beside stores more in the transaction of new jobs: of this one and of others that come together with the same function. If it
   *   throws, no job is created
   * @throws AppError `not_found` for the router, `invalid` for the URL, `quota_exceeded` when too many jobs of the team have not ended
   */
  async createJob(teamId: string, routerId: string, wanted: NewJob, request: JobRequest, beside?: BesideJobs): Promise<JobRecord> {
    this.checkNotifyUrl(wanted.notifyUrl);
    const router = await this.#deps.routers.getRouter(teamId, routerId);
    const { job, isNew } = await this.#store(router, wanted, request, beside);
    if (isNew) {
      await this.#quota.added(teamId);
      this.changes.publish(job);
    }
    if (wanted.expressExecute) this.#expressIsWaiting(router.agent_id);
    return job;
  }

  #expressIsWaiting(agentId: string): void {
    if (this.#dispatcher.hasAgent(agentId)) this.#dispatcher.expressIsWaiting(agentId);
    else this.#elsewhere?.tell(agentId);
  }

  /** The agent may have its tunnel with another control plane: this one has canceled its job, or expired it. */
  #routerIsFree({ agent_id: agentId, router_id: routerId }: JobRecord): void {
    if (agentId === null || this.#dispatcher.hasAgent(agentId)) this.#dispatcher.routerIsFree(agentId, routerId);
    else this.#elsewhere?.tell(agentId, routerId);
  }

  /** Checks the URL of jobs that are created later. @throws AppError `invalid` */
  checkNotifyUrl(notifyUrl: string | undefined): void {
    const refused = notifyUrl === undefined ? undefined : notifyUrlProblem(notifyUrl, this.#deps.notifyUrls);
    if (refused !== undefined) throw invalidField('notify_url', refused);
  }

  async #store(
    router: RouterRecord,
    wanted: NewJob,
    request: JobRequest,
    beside: BesideJobs | undefined,
  ): Promise<{ job: JobRecord; isNew: boolean }> {
    const now = this.#deps.clock.now();
    const open = await this.#quota.count(router.team_id);
    const submission = {
      values: this.#valuesOf(router, wanted, request, now),
      sameSince: request.keyGiven ? now - KEY_KEPT_MS : undefined,
      mayBeNew: this.#quota.hasRoom(open),
      beside,
    };
    const intake = await this.#intake.store(submission);
    if (intake === 'no_router') throw notFound('router');
    if (intake === 'over_quota') throw this.#quota.exceeded();
    return intake;
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
  async listJobs(teamId: string, routerId: string, statuses: readonly Status[], page: Page): Promise<JobPage> {
    const router = await this.#deps.routers.getRouter(teamId, routerId, { orRemoved: true });
    return readJobPage(this.#deps.storage.db, { teamId, routerId: router.id, statuses, page });
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
   * Cancels a job, or marks a finished one as deleted. Repeating it changes nothing. For a job that its agent has accepted,
   * the agent is asked to give it back: `requested` when it has not answered yet.
   * @param by who asks, for the timeline
   * @throws AppError `not_found`; `conflict` once the script has begun, because it cannot be recalled
   */
  async cancelJob(teamId: string, routerId: string, jobId: string, by?: NotedBy): Promise<Cancellation> {
    return this.#canceller.cancel(await this.getJob(teamId, routerId, jobId), by);
  }

  /**
   * Like {@link cancelJob}, but leaves a finished job unchanged and returns undefined for it.
   * @throws AppError like {@link cancelJob}
   */
  async cancelIfOpen(teamId: string, routerId: string, jobId: string, by?: NotedBy): Promise<Cancellation | undefined> {
    const job = await this.getJob(teamId, routerId, jobId);
    return isFinished(job.phase as Phase) ? undefined : this.#canceller.cancel(job, by);
  }

  /**
   * Ends the jobs of a router, in the transaction that removes or replaces it. Publish the returned jobs in {@link changes} after
   * the commit. @throws AppError `conflict` while an agent holds a job and can still report its result
   */
  async endJobsOf(tx: Tx, { agentRevoked, keepQueued = false, reason, error, ...target }: RouterJobsEnd): Promise<JobRecord[]> {
    const held = await selectHeldOf(tx, target, 1);
    if (held.length > 0 && !agentRevoked) {
      throw new AppError('conflict', `job ${held[0]} is under way: wait for its end, or cancel it if its script has not begun`);
    }
    const unknown = held.length > 0 ? await giveUpHeldOf(tx, target) : [];
    return keepQueued ? unknown : [...unknown, ...(await cancelQueuedOf(tx, target, { reason, error }))];
  }

  /** Stores the missing events of transitions that were stored without one (at most `limit` jobs). @returns how many */
  insertMissedEvents(limit: number): Promise<number> {
    const { storage, clock } = this.#deps;
    return storage.writes.write((tx) => insertMissedEvents(tx, clock.now(), limit));
  }

  // Messages of agents. A failed write rejects: the tunnel is then closed, and the agent repeats the message at its next `ready`.

  async onReady(connection: AgentConnection, entries: OpenJob[]): Promise<void> {
    await this.#handOver.reconcile(connection, entries);
    this.#dispatcher.agentIsReady(connection);
  }

  onGone(connection: AgentConnection): void {
    this.#dispatcher.agentIsGone(connection);
  }

  onHeartbeat(connection: AgentConnection, heartbeat: Heartbeat): void {
    const names = heartbeat.routers.filter((router) => router.reachable).map((router) => router.name);
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

  // If the agent's journal already has an offered job (the database was restored), the agent answers with the job's state.

  async onJobBegan(connection: AgentConnection, jobId: string): Promise<void> {
    await this.#handOver.began(connection, jobId);
    this.#dispatcher.alreadyKnown(connection.agentId, jobId);
  }

  async onJobEnded(connection: AgentConnection, jobId: string, result: JobResult): Promise<void> {
    await this.#handOver.ended(connection, jobId, result);
    this.#dispatcher.alreadyKnown(connection.agentId, jobId);
  }

  onJobGuard(connection: AgentConnection, guard: JobGuard): Promise<void> {
    return this.#handOver.guarded(connection, guard);
  }

  async onJobRefused(connection: AgentConnection, jobId: string): Promise<void> {
    await this.#handOver.refused(connection, jobId);
    this.#dispatcher.refused(connection.agentId, jobId);
  }
}
