import type { SharedUse } from '../../../runtime/fair-shares.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { Log } from '../../platform/core/log.ts';
import { sampledLog } from '../../platform/core/sampled-log.ts';
import { storeApart } from '../../platform/core/store-apart.ts';
import type { RefusedRow } from '../../platform/core/store-apart.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import { applyAgentChange, bringsNotice } from './agents/store.ts';
import { applyChanges } from './store.ts';
import type { FaultChange, FaultEvent, FaultType } from './types.ts';
import { WaitingAgents } from './waiting-agents.ts';
import type { WatchRights } from '../agents/service.ts';
import type { AgentChange, ChangedRouter } from './waiting-agents.ts';
import { WaitingChanges } from './waiting-changes.ts';
import type { TakenChange } from './waiting-changes.ts';

/** Changes of one transaction: about 20 ms on SQLite. */
const CHUNK = 100;
/** Routers of an agent in one transaction: they share a few statements, so it takes about as long. */
const AGENT_CHUNK = 500;

/** An agent that claims a router is seen by the control plane that has that agent's tunnel, not by the one that watches the router. */
const SEEN_BY_ANYONE: ReadonlySet<FaultType> = new Set(['move_requested']);

interface ChangesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  onFault?: (event: FaultEvent) => void;
  counters?: Counters;
  /** Where several control planes serve the database: of which agents and routers this one may change faults. */
  rights?: WatchRights | undefined;
}

/** A change of an agent that is being stored. */
interface AgentWork {
  change: AgentChange;
  /** Not stored yet. */
  left: ChangedRouter[];
  /** Its notice is stored: the other routers add none. */
  hasNotice: boolean;
}

/**
 * Stores changes of faults in the background: in order for each fault, taking turns between teams. `agent_offline` of one agent is one change
 * for all its routers. A change that cannot be stored now is retried by the next {@link store}; one that can never be stored is dropped.
 */
export class Changes {
  readonly #deps: ChangesDeps;
  readonly #log: Log;
  readonly #waiting = new WaitingChanges();
  readonly #agents = new WaitingAgents();
  /** Taken from the queues and not stored yet. */
  #chunk: TakenChange[] = [];
  #agentWork: AgentWork[] = [];
  #storing: Promise<void> | undefined;

  constructor(deps: ChangesDeps) {
    this.#deps = deps;
    this.#log = sampledLog(deps.log, deps.clock);
  }

  get shares(): SharedUse {
    return this.#waiting.shares;
  }

  add({ teamId, routerId, agentId }: { teamId: string; routerId: string; agentId: string }, changes: readonly FaultChange[]): void {
    for (const change of changes) {
      if (change.type !== 'agent_offline' || change.kind === 'describe') this.#waiting.add({ teamId, routerId, change });
      else {
        const finding = change.kind === 'open' ? change.finding : undefined;
        this.#agents.add({ teamId, agentId, routerId, kind: change.kind, at: change.at, finding });
      }
    }
    if (changes.length > 0) this.store();
  }

  /** Starts storing the queued changes, unless that is already in progress. */
  store(): void {
    if (this.#hasWork) this.#storing ??= this.#drain();
  }

  /** Resolves when the queue is empty or the database fails. */
  async stored(): Promise<void> {
    this.store();
    await this.#storing;
  }

  get #hasWork(): boolean {
    return this.#agents.size + this.#agentWork.length + this.#waiting.size + this.#chunk.length > 0;
  }

  /** Never rejects. */
  async #drain(): Promise<void> {
    // The changes of this turn of the event loop are stored together: an agent's heartbeat is about all its routers.
    await Promise.resolve();
    let failure: { error: unknown } | undefined;
    while (!failure && this.#hasWork) {
      failure = this.#agents.size + this.#agentWork.length > 0 ? await this.#storeAgent() : await this.#storeChunk();
    }
    if (failure) this.#deps.log.warn({ err: failure.error }, 'fault changes could not be stored; they are retried');
    this.#storing = undefined;
  }

  /** @returns why the rest could not be stored now */
  async #storeChunk(): Promise<{ error: unknown } | undefined> {
    if (this.#chunk.length === 0) this.#chunk = this.#waiting.take(CHUNK);
    const chunk = this.#chunk;
    const { storage, clock } = this.#deps;
    const { refused, left, error } = await storeApart(chunk, async (changes) => {
      this.#publish(await storage.writes.write(async (tx) => applyChanges(tx, await this.#permitted(tx, changes), clock.now())));
    });
    this.#countRefused(refused, ({ teamId, routerId }) => ({ team_id: teamId, router_id: routerId }));
    this.#chunk = left;
    this.#waiting.done(chunk.slice(0, chunk.length - left.length));
    return left.length > 0 ? { error } : undefined;
  }

  /** @returns why the rest could not be stored now */
  async #storeAgent(): Promise<{ error: unknown } | undefined> {
    if (this.#agentWork.length === 0)
      this.#agentWork = this.#agents.take().map((change) => ({ change, left: change.routers, hasNotice: false }));
    for (let work = this.#agentWork[0]; work; work = this.#agentWork[0]) {
      const { refused, left, error } = await this.#storeRouters(work, work.left.slice(0, AGENT_CHUNK));
      const { teamId, agentId } = work.change;
      this.#countRefused(refused, ({ id }) => ({ team_id: teamId, agent_id: agentId, router_id: id }));
      work.left = [...left, ...work.left.slice(AGENT_CHUNK)];
      if (left.length > 0) return { error };
      if (work.left.length === 0) this.#agentWork.shift();
    }
    return undefined;
  }

  #storeRouters(work: AgentWork, routers: readonly ChangedRouter[]) {
    const { storage, clock } = this.#deps;
    return storeApart(routers, async (some) => {
      const part = { ...work.change, routers: some, total: work.change.routers.length, withNotice: !work.hasNotice };
      const events = await storage.writes.write(async (tx) =>
        (await this.#mayChange(tx, part.agentId)) ? applyAgentChange(tx, part, clock.now()) : [],
      );
      work.hasNotice ||= bringsNotice(events);
      this.#publish(events);
    });
  }

  /** Without those of routers that another control plane watches: it sees for itself. */
  async #permitted(tx: Tx, changes: readonly TakenChange[]): Promise<readonly TakenChange[]> {
    const { rights } = this.#deps;
    if (!rights) return changes;
    const own = await rights.ofRouters(
      tx,
      changes.map(({ routerId }) => routerId),
    );
    return changes.filter(({ routerId, change }) => own.has(routerId) || SEEN_BY_ANYONE.has(change.type));
  }

  async #mayChange(tx: Tx, agentId: string): Promise<boolean> {
    const { rights } = this.#deps;
    return !rights || (await rights.ofAgents(tx, [agentId])).has(agentId);
  }

  #countRefused<T>(refused: readonly RefusedRow<T>[], nameOf: (row: T) => Record<string, string>): void {
    for (const { row, error } of refused)
      this.#log.error({ err: error, ...nameOf(row) }, 'the database rejects a fault change permanently; it is dropped');
    this.#deps.counters?.refuseRows('faults', refused.length);
  }

  #publish(events: readonly FaultEvent[]): void {
    for (const event of events) {
      try {
        this.#deps.onFault?.(event);
      } catch (error) {
        this.#deps.log.error({ err: error, router_id: event.fault.router_id }, 'a fault was stored, but its listeners failed');
      }
    }
  }
}
