import { FairShares } from '../../../../runtime/fair-shares.ts';
import type { JobDeclined } from '../../../../protocol/index.ts';
import type { Holder } from '../../../../runtime/fair-shares.ts';
import type { AgentConnection, AgentGateway } from '../../../platform/core/agent-gateway.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { FairQueue } from '../../../platform/core/fair-queue.ts';
import { Gathered } from '../../../platform/core/gathered.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Pace } from '../../../platform/core/pace.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { OfferableJob, WaitingRouter } from '../types.ts';
import { BackOff } from './back-off.ts';
import { selectNextJobs, selectWaitingRouters } from './store.ts';
import type { NextJobQuery } from './store.ts';

/**
 * Offers that wait for an answer. An offer costs a timer and a few hundred bytes (not its script), so there can be many.
 * An agent that never answers holds 64 of them until the deadline and delays only its own routers. 64 offers within a
 * round trip of 100 ms are 640 jobs a second for one agent. 32 such agents reach the limit of a team.
 */
export const UNANSWERED_OFFERS = { total: 8192, perParty: 2048, perMember: 64 };
/** Jobs that are read for offers by one statement: a millisecond of work. Teams take turns. */
const READS_AT_ONCE = 64;
/** An agent answers once the job is on its disk. After this time the agent or the tunnel is stuck. */
const ANSWER_WITHIN_MS = 15_000;
/** Fallback poll for missed wake-ups: an offer lost with its tunnel. */
const POLL_EVERY_MS = 30_000;
/** Agents checked in one statement. */
const AGENTS_AT_ONCE = 200;

export interface DispatcherDeps {
  storage: Storage;
  gateway: Pick<AgentGateway, 'notify'>;
  clock: Clock;
  log: Log;
  random?: () => number;
  /**
   * How far checks are apart, milliseconds, unless somebody waits for a job; 0 unless given. 10,000 agents send 333 heartbeats a second, and
   * each statement serves those of so long.
   */
  agentsApartMs?: number;
}

/** Routers of an agent that can get any job now; the others get only express jobs. By id, or by name on the agent's tunnel. */
interface Check {
  all: boolean;
  names: Set<string>;
  routerIds: Set<string>;
}

interface Offer {
  agentId: string;
  routerId: string;
  expressOnly: boolean;
  /** Known once the job has been read. */
  jobId: string | undefined;
  answer: PromiseWithResolvers<Answer>;
}

/** `known`: the agent had the job before and reported its state, because the database is older than the agent's journal. */
type Answer = 'accepted' | 'known' | 'refused' | 'gone' | 'nothing' | 'silent' | JobDeclined['reason'];

/**
 * Offers queued jobs to routers, one at a time per router. Express jobs go first and at once. Other jobs go when the router
 * checks in: at its agent's `ready`, at a heartbeat that says reachable, and at the end of its previous job. This state is
 * not durable and an offer is no permission to run: the agent's journal and `acceptJob` absorb an offer too many.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #waiting = new FairQueue<Offer>();
  /** Offers without an answer, by team and agent. */
  readonly unanswered = new FairShares(UNANSWERED_OFFERS);
  readonly #working = new Set<Promise<void>>();
  #reads = 0;
  readonly #jobs: Gathered<NextJobQuery, OfferableJob | undefined>;
  readonly #backOff: BackOff;
  /** Agents whose job list is reconciled, with the epoch of that tunnel. */
  readonly #agents = new Map<string, { teamId: string; epoch: number }>();
  /** At most one offer per router, by router id: from the moment it waits for its turn until it is answered. */
  readonly #offers = new Map<string, Offer>();
  /** Offers whose job has been read, by job id. */
  readonly #offerOf = new Map<string, Offer>();
  readonly #agentOf = new Map<string, string>();
  /** Checks that have been requested and not begun, by agent. */
  #checks = new Map<string, Check>();
  #checking: Promise<void> | undefined;
  readonly #pace: Pace;
  readonly #polls: Periodic;
  #stopped = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#pace = new Pace(deps.agentsApartMs ?? 0);
    this.#jobs = new Gathered({ most: READS_AT_ONCE, run: (queries) => selectNextJobs(deps.storage.db, queries, deps.clock.now()) });
    this.#polls = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: POLL_EVERY_MS,
      failure: 'the poll for queued jobs failed',
      run: () => {
        for (const agentId of this.#agents.keys()) this.expressIsWaiting(agentId);
      },
    });
    this.#backOff = new BackOff({
      clock: deps.clock,
      random: deps.random ?? Math.random,
      onOver: (routerId) => this.routerIsFree(this.#agentOf.get(routerId), routerId),
    });
  }

  start(): void {
    this.#polls.start();
  }

  /** Ends every wait. An agent may still accept what was offered; its next `ready` reconciles that. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pace.hurry();
    await this.#polls.stop();
    this.#backOff.stop();
    this.#waiting.clear();
    for (const offer of this.#offers.values()) offer.answer.resolve('gone');
    await this.#checking;
    await Promise.all(this.#working);
    await this.#jobs.stop();
  }

  agentIsReady(connection: AgentConnection): void {
    this.#agents.set(connection.agentId, connection);
    this.#requestCheck(connection.agentId, (check) => (check.all = true));
  }

  agentIsGone(connection: AgentConnection): void {
    if (this.#agents.get(connection.agentId)?.epoch !== connection.epoch) return;
    this.#agents.delete(connection.agentId);
    for (const offer of this.#offers.values()) if (offer.agentId === connection.agentId) offer.answer.resolve('gone');
  }

  /** The agent has its tunnel with this control plane, and its job list is reconciled. */
  hasAgent(agentId: string): boolean {
    return this.#agents.has(agentId);
  }

  /** No agent has its tunnel with this control plane. */
  get hasNoAgents(): boolean {
    return this.#agents.size === 0;
  }

  /** These routers have just answered their agent. @param names their names on the agent's tunnel */
  checkedIn(agentId: string, names: readonly string[]): void {
    this.#requestCheck(agentId, (check) => {
      for (const name of names) check.names.add(name);
    });
  }

  /** An express job was created. */
  expressIsWaiting(agentId: string): void {
    this.#requestCheck(agentId, () => undefined);
    this.#pace.hurry();
  }

  /** The router's job is finished, so the router can get the next one. */
  routerIsFree(agentId: string | null | undefined, routerId: string): void {
    if (!agentId) return;
    this.#requestCheck(agentId, (check) => check.routerIds.add(routerId));
    this.#pace.hurry();
  }

  accepted(agentId: string, jobId: string): void {
    this.#answer(agentId, jobId, 'accepted');
  }

  /** The agent had begun or finished the job before this offer. That is stored now. */
  alreadyKnown(agentId: string, jobId: string): void {
    this.#answer(agentId, jobId, 'known');
  }

  /** The agent had refused the job before this offer. It accepts a new offer once its journal has dropped that refusal. */
  refused(agentId: string, jobId: string): void {
    this.#answer(agentId, jobId, 'refused');
  }

  declined(agentId: string, { job_id: jobId, reason }: JobDeclined): void {
    this.#answer(agentId, jobId, reason);
  }

  /** Counts only from the agent that got the offer: another agent may know the job from the time when it had the router. */
  #answer(agentId: string, jobId: string, answer: Answer): void {
    const offer = this.#offerOf.get(jobId);
    if (offer?.agentId === agentId) offer.answer.resolve(answer);
  }

  #requestCheck(agentId: string, change: (check: Check) => void): void {
    if (this.#stopped || !this.#agents.has(agentId)) return;
    const check = this.#checks.get(agentId) ?? { all: false, names: new Set(), routerIds: new Set() };
    change(check);
    this.#checks.set(agentId, check);
    this.#checking ??= this.#runChecks();
  }

  async #runChecks(): Promise<void> {
    while (this.#checks.size > 0 && !this.#stopped) {
      // Checks requested during this turn of the event loop share one query, and so do heartbeats that come one after the other.
      await new Promise(setImmediate);
      await this.#pace.next();
      if (this.#stopped) break;
      const batch = new Map([...this.#checks].slice(0, AGENTS_AT_ONCE));
      for (const agentId of batch.keys()) this.#checks.delete(agentId);
      await this.#checkAgents(batch);
    }
    // Nothing is awaited since the loop's condition, so a check requested from here on starts the next round.
    this.#checking = undefined;
  }

  async #checkAgents(checks: Map<string, Check>): Promise<void> {
    const { storage, clock, log } = this.#deps;
    try {
      for (const router of await selectWaitingRouters(storage.db, [...checks.keys()], clock.now())) {
        this.#consider(router, checks.get(router.agentId)!);
      }
      // Once all wait, so that no team goes first with all of its own.
      this.#offerMore();
    } catch (error) {
      // The poll checks again.
      log.error({ err: error, count: checks.size }, 'queued jobs could not be read');
    }
  }

  #consider(router: WaitingRouter, check: Check): void {
    const hasCheckedIn = check.all || check.names.has(router.agentEntry);
    if (hasCheckedIn) this.#backOff.checkedIn(router.routerId);
    const expressOnly = !hasCheckedIn && !check.routerIds.has(router.routerId);
    const { agentId, routerId, express } = router;
    const teamId = this.#agents.get(agentId)?.teamId;
    if ((expressOnly && !express) || teamId === undefined) return;
    if (this.#stopped || this.#offers.has(routerId) || this.#backOff.isPaused(routerId)) return;
    const offer: Offer = { agentId, routerId, expressOnly, jobId: undefined, answer: Promise.withResolvers() };
    this.#offers.set(routerId, offer);
    this.#agentOf.set(routerId, agentId);
    this.#waiting.add({ party: teamId, member: agentId }, offer, { urgent: express });
  }

  /** Starts offers up to the limits. Teams take turns; an agent with too many unanswered offers waits for their answers. */
  #offerMore(): void {
    while (this.#reads < READS_AT_ONCE) {
      const turn = this.#waiting.next((holder) => this.unanswered.limitFor(holder) === undefined);
      if (!turn) return;
      this.unanswered.take(turn.holder);
      this.#reads += 1;
      const working = this.#offerNext(turn.item, turn.holder).finally(() => this.#working.delete(working));
      this.#working.add(working);
    }
  }

  /** Never rejects. */
  async #offerNext(offer: Offer, holder: Holder): Promise<void> {
    const { agentId, routerId } = offer;
    let answer: Answer = 'gone';
    try {
      answer = (await this.#send(offer)) ?? (await this.#answerTo(offer));
    } catch (error) {
      this.#deps.log.error({ err: error, router_id: routerId }, 'a job could not be offered');
    }
    this.#offers.delete(routerId);
    if (offer.jobId !== undefined) this.#offerOf.delete(offer.jobId);
    this.unanswered.giveBack(holder);
    this.#offerMore();
    if (answer === 'accepted' || answer === 'known' || answer === 'gone' || answer === 'nothing') {
      this.#backOff.succeeded(routerId);
      this.#agentOf.delete(routerId);
      // The job was canceled meanwhile. An express job created since then was skipped because of this offer.
      if (answer === 'nothing') this.expressIsWaiting(agentId);
      return;
    }
    this.#deps.log.info({ router_id: routerId, agent_id: agentId, reason: answer }, 'the agent did not accept an offered job');
    this.#backOff.failed(routerId, { endsAtCheckIn: answer === 'router_unreachable' });
  }

  /** @returns why no answer will come; undefined when the offer was sent */
  async #send(offer: Offer): Promise<Answer | undefined> {
    const { agentId } = offer;
    try {
      const job = await this.#jobs.call(offer);
      if (this.#stopped || !this.#agents.has(agentId)) return 'gone';
      if (!job) return 'nothing';
      offer.jobId = job.offer.job_id;
      this.#offerOf.set(offer.jobId, offer);
      return this.#deps.gateway.notify(agentId, job.offer) ? undefined : 'gone';
    } finally {
      this.#reads -= 1;
      // The wait for the answer does not hold up the next offer.
      this.#offerMore();
    }
  }

  async #answerTo(offer: Offer): Promise<Answer> {
    const timer = this.#deps.clock.setTimeout(() => offer.answer.resolve('silent'), ANSWER_WITHIN_MS);
    try {
      return await offer.answer.promise;
    } finally {
      timer.cancel();
    }
  }
}
