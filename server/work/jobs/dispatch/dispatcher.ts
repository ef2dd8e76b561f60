import { FairShares } from '../../../../runtime/fair-shares.ts';
import type { JobDeclined } from '../../../../protocol/index.ts';
import type { Holder } from '../../../../runtime/fair-shares.ts';
import type { AgentConnection, AgentGateway } from '../../../platform/core/agent-gateway.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { FairQueue } from '../../../platform/core/fair-queue.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { WaitingRouter } from '../types.ts';
import { BackOff } from './back-off.ts';
import { selectNextJob, selectWaitingRouters } from './store.ts';

/**
 * Offers that wait for their answer. Such an offer costs a timer and a few hundred bytes, not its script, so that there may
 * be many: an agent that answers nothing holds 64 of them for the whole deadline and delays only its own routers. 64
 * within a round trip of 100 ms are 640 jobs a second for one agent; 32 such agents make the limit of a team.
 */
export const UNANSWERED_OFFERS = { total: 8192, perParty: 2048, perMember: 64 };
/** Jobs being read for an offer: a statement of a millisecond each, so teams take turns and nobody has to be kept out. */
const READS_AT_ONCE = 8;
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
  routerId: string;
  expressOnly: boolean;
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
  readonly #waiting = new FairQueue<Offer>();
  /** Of teams and their agents. */
  readonly unanswered = new FairShares(UNANSWERED_OFFERS);
  readonly #working = new Set<Promise<void>>();
  #reads = 0;
  readonly #backOff: BackOff;
  /** Agents whose list is settled, with the epoch of that tunnel. */
  readonly #agents = new Map<string, { teamId: string; epoch: number }>();
  /** At most one per router, from the moment it is queued until it is answered. */
  readonly #offers = new Map<string, Offer>();
  /** Those of which the job is known, by its id. */
  readonly #offerOf = new Map<string, Offer>();
  readonly #agentOf = new Map<string, string>();
  #looks = new Map<string, Look>();
  #looking: Promise<void> | undefined;
  readonly #polls: Periodic;
  #stopped = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#polls = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: POLL_EVERY_MS,
      failure: 'jobs that wait for their agents could not be looked for',
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

  /** Ends every wait; what was offered may still be accepted by its agent, and is then settled at its next `ready`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#polls.stop();
    this.#backOff.stop();
    this.#waiting.clear();
    for (const offer of this.#offers.values()) offer.answer.resolve('gone');
    await this.#looking;
    await Promise.all(this.#working);
  }

  agentIsReady(connection: AgentConnection): void {
    this.#agents.set(connection.agentId, connection);
    this.#look(connection.agentId, (look) => (look.all = true));
  }

  agentIsGone(connection: AgentConnection): void {
    if (this.#agents.get(connection.agentId)?.epoch !== connection.epoch) return;
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

  accepted(agentId: string, jobId: string): void {
    this.#answer(agentId, jobId, 'accepted');
  }

  /** The agent began or finished the job before this offer, and that is stored now. */
  alreadyKnown(agentId: string, jobId: string): void {
    this.#answer(agentId, jobId, 'known');
  }

  /** The agent gave the job back before this offer. It takes the next one, once it has forgotten that. */
  refused(agentId: string, jobId: string): void {
    this.#answer(agentId, jobId, 'refused');
  }

  declined(agentId: string, { job_id: jobId, reason }: JobDeclined): void {
    this.#answer(agentId, jobId, reason);
  }

  /** Only of the agent that was asked: another one may know the job from the time when it had the router. */
  #answer(agentId: string, jobId: string, answer: Answer): void {
    const offer = this.#offerOf.get(jobId);
    if (offer?.agentId === agentId) offer.answer.resolve(answer);
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
    const { agentId, routerId, express } = router;
    const teamId = this.#agents.get(agentId)?.teamId;
    if ((expressOnly && !express) || teamId === undefined) return;
    if (this.#stopped || this.#offers.has(routerId) || this.#backOff.isPaused(routerId)) return;
    const offer: Offer = { agentId, routerId, expressOnly, jobId: undefined, answer: Promise.withResolvers() };
    this.#offers.set(routerId, offer);
    this.#agentOf.set(routerId, agentId);
    this.#waiting.add({ party: teamId, member: agentId }, offer, { urgent: express });
    this.#offerMore();
  }

  /** Begins what may begin: teams take turns, and whoever leaves too many offers unanswered waits for those. */
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
      // The job was taken back meanwhile; an express one made since then was passed over for this offer.
      if (answer === 'nothing') this.expressIsWaiting(agentId);
      return;
    }
    this.#deps.log.info({ router_id: routerId, agent_id: agentId, reason: answer }, 'offered job not taken');
    this.#backOff.failed(routerId, { endsAtCheckIn: answer === 'router_unreachable' });
  }

  /** @returns why there is no answer to wait for, undefined when the offer is on its way */
  async #send(offer: Offer): Promise<Answer | undefined> {
    const { storage, clock, gateway } = this.#deps;
    const { agentId, routerId, expressOnly } = offer;
    try {
      const job = await selectNextJob(storage.db, { routerId, agentId, expressOnly, now: clock.now() });
      if (this.#stopped || !this.#agents.has(agentId)) return 'gone';
      if (!job) return 'nothing';
      offer.jobId = job.offer.job_id;
      this.#offerOf.set(offer.jobId, offer);
      return gateway.notify(agentId, job.offer) ? undefined : 'gone';
    } finally {
      this.#reads -= 1;
      // The answer is waited for without holding up the next.
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
