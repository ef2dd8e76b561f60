import PQueue from 'p-queue';
import type { JobDeclined } from '../../../protocol/index.ts';
import type { AgentConnection, AgentGateway } from '../../core/agent-gateway.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Storage } from '../../storage/db.ts';
import type { WaitingRouter } from '../types.ts';
import { BackOff } from './back-off.ts';
import { selectNextJob, selectWaitingRouters } from './store.ts';

/** Offers that wait for their answer at the same time, all routers together: an offer carries up to 12 kB of script. */
const OFFERS_AT_ONCE = 64;
/** An agent answers once the job is on its disk; this long means that it is stuck or the tunnel is. */
const ANSWER_WITHIN_MS = 15_000;
/** The backstop for what no notice woke: jobs made through another node, an offer lost with its tunnel. */
const POLL_EVERY_MS = 30_000;
/** Agents looked at in one statement. */
const AGENTS_AT_ONCE = 200;

export interface DispatcherDeps {
  storage: Storage;
  gateway: Pick<AgentGateway, 'notify'>;
  clock: Clock;
  log: Log;
  random?: () => number;
}

/** Which routers of an agent may get any job now; the others only express ones. By id, or by name on the agent's tunnel. */
interface Look {
  all: boolean;
  names: Set<string>;
  routerIds: Set<string>;
}

interface Offer {
  agentId: string;
  /** Known once the job has been read. */
  jobId: string | undefined;
  answer: PromiseWithResolvers<Answer>;
}

/** `known`: the agent has had the job before and told what became of it; the database is older than its journal. */
type Answer = 'accepted' | 'known' | 'refused' | 'gone' | 'nothing' | 'silent' | JobDeclined['reason'];

/**
 * Offers waiting jobs to routers: one at a time per router, express ones at once and first, the others when the router
 * checks in (its agent's `ready`, a heartbeat that says reachable, the end of its previous job). Nothing here is
 * durable and nothing gives permission: an offer too many is absorbed by the agent's journal and `acceptJob`.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #queue = new PQueue({ concurrency: OFFERS_AT_ONCE });
  readonly #backOff: BackOff;
  /** Agents whose list is settled, with the epoch of that tunnel. */
  readonly #agents = new Map<string, number>();
  /** At most one per router, from the moment it is queued until it is answered. */
  readonly #offers = new Map<string, Offer>();
  readonly #agentOf = new Map<string, string>();
  #looks = new Map<string, Look>();
  #looking: Promise<void> | undefined;
  #pollTimer: Timer | undefined;
  #stopped = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#backOff = new BackOff({
      clock: deps.clock,
      random: deps.random ?? Math.random,
      onOver: (routerId) => this.routerIsFree(this.#agentOf.get(routerId), routerId),
    });
  }

  start(): void {
    this.#schedulePoll();
  }

  /** Ends every wait; what was offered may still be accepted by its agent, and is then settled at its next `ready`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pollTimer?.cancel();
    this.#backOff.stop();
    this.#queue.clear();
    for (const offer of this.#offers.values()) offer.answer.resolve('gone');
    await this.#looking;
    await this.#queue.onIdle();
  }

  agentIsReady(connection: AgentConnection): void {
    this.#agents.set(connection.agentId, connection.epoch);
    this.#look(connection.agentId, (look) => (look.all = true));
  }

  agentIsGone(connection: AgentConnection): void {
    if (this.#agents.get(connection.agentId) !== connection.epoch) return;
    this.#agents.delete(connection.agentId);
    for (const offer of this.#offers.values()) if (offer.agentId === connection.agentId) offer.answer.resolve('gone');
  }

  /** Routers that have just answered their agent, by their names on its tunnel. */
  checkedIn(agentId: string, names: readonly string[]): void {
    this.#look(agentId, (look) => {
      for (const name of names) look.names.add(name);
    });
  }

  /** An express job was made. */
  expressIsWaiting(agentId: string): void {
    this.#look(agentId, () => undefined);
  }

  /** The router's job is finished, so that it may get the next one. */
  routerIsFree(agentId: string | null | undefined, routerId: string): void {
    if (agentId) this.#look(agentId, (look) => look.routerIds.add(routerId));
  }

  accepted(jobId: string): void {
    this.#answer(jobId, 'accepted');
  }

  /** The agent began or finished the job before this offer, and that is stored now. */
  alreadyKnown(jobId: string): void {
    this.#answer(jobId, 'known');
  }

  /** The agent gave the job back before this offer. It takes the next one, once it has forgotten that. */
  refused(jobId: string): void {
    this.#answer(jobId, 'refused');
  }

  declined({ job_id: jobId, reason }: JobDeclined): void {
    this.#answer(jobId, reason);
  }

  #answer(jobId: string, answer: Answer): void {
    for (const offer of this.#offers.values()) if (offer.jobId === jobId) offer.answer.resolve(answer);
  }

  #look(agentId: string, change: (look: Look) => void): void {
    if (this.#stopped || !this.#agents.has(agentId)) return;
    const look = this.#looks.get(agentId) ?? { all: false, names: new Set(), routerIds: new Set() };
    change(look);
    this.#looks.set(agentId, look);
    this.#looking ??= this.#lookAtAll();
  }

  async #lookAtAll(): Promise<void> {
    while (this.#looks.size > 0 && !this.#stopped) {
      // What comes in during this turn of the event loop shares the query.
      await new Promise(setImmediate);
      const batch = new Map([...this.#looks].slice(0, AGENTS_AT_ONCE));
      for (const agentId of batch.keys()) this.#looks.delete(agentId);
      await this.#lookAt(batch);
    }
    // In the same breath as the check above, so that a look that comes now starts the next round.
    this.#looking = undefined;
  }

  async #lookAt(looks: Map<string, Look>): Promise<void> {
    const { storage, clock, log } = this.#deps;
    try {
      for (const router of await selectWaitingRouters(storage.db, [...looks.keys()], clock.now())) {
        this.#consider(router, looks.get(router.agentId)!);
      }
    } catch (error) {
      // The poll looks again.
      log.error({ err: error, count: looks.size }, 'waiting jobs could not be read');
    }
  }

  #consider(router: WaitingRouter, look: Look): void {
    const hasCheckedIn = look.all || look.names.has(router.agentRouter);
    if (hasCheckedIn) this.#backOff.checkedIn(router.routerId);
    const expressOnly = !hasCheckedIn && !look.routerIds.has(router.routerId);
    if (expressOnly && !router.express) return;
    if (this.#stopped || this.#offers.has(router.routerId) || this.#backOff.isPaused(router.routerId)) return;
    const offer: Offer = { agentId: router.agentId, jobId: undefined, answer: Promise.withResolvers() };
    this.#offers.set(router.routerId, offer);
    this.#agentOf.set(router.routerId, router.agentId);
    void this.#queue.add(() => this.#offerNext(router.routerId, offer, expressOnly), { priority: router.express ? 1 : 0 });
  }

  /** Never rejects: the queue's promise is not awaited. */
  async #offerNext(routerId: string, offer: Offer, expressOnly: boolean): Promise<void> {
    let answer: Answer = 'gone';
    try {
      answer = await this.#offer(routerId, offer, expressOnly);
    } catch (error) {
      this.#deps.log.error({ err: error, router_id: routerId }, 'a job could not be offered');
    }
    this.#offers.delete(routerId);
    if (answer === 'accepted' || answer === 'known' || answer === 'gone' || answer === 'nothing') {
      this.#backOff.succeeded(routerId);
      this.#agentOf.delete(routerId);
      // The job was taken back meanwhile; an express one made since then was passed over for this offer.
      if (answer === 'nothing') this.expressIsWaiting(offer.agentId);
      return;
    }
    this.#deps.log.info({ router_id: routerId, agent_id: offer.agentId, reason: answer }, 'offered job not taken');
    this.#backOff.failed(routerId, { endsAtCheckIn: answer === 'router_unreachable' });
  }

  async #offer(routerId: string, offer: Offer, expressOnly: boolean): Promise<Answer> {
    const { storage, clock, gateway } = this.#deps;
    const job = await selectNextJob(storage.db, { routerId, agentId: offer.agentId, expressOnly, now: clock.now() });
    if (this.#stopped || !this.#agents.has(offer.agentId)) return 'gone';
    if (!job) return 'nothing';
    offer.jobId = job.offer.job_id;
    if (!gateway.notify(offer.agentId, job.offer)) return 'gone';
    const timer = clock.setTimeout(() => offer.answer.resolve('silent'), ANSWER_WITHIN_MS);
    try {
      return await offer.answer.promise;
    } finally {
      timer.cancel();
    }
  }

  #schedulePoll(): void {
    this.#pollTimer = this.#deps.clock.setTimeout(() => {
      for (const agentId of this.#agents.keys()) this.expressIsWaiting(agentId);
      if (!this.#stopped) this.#schedulePoll();
    }, POLL_EVERY_MS);
  }
}
