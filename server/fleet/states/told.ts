import type { Cluster } from '../../feature.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AGENTS_APART_MS, Gathered } from '../../platform/core/gathered.ts';
import type { Log } from '../../platform/core/log.ts';
import { NextMoments } from '../../platform/core/next-moments.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { TunnelEnd } from '../../platform/core/tunnel-record.ts';
import { ToldFacts } from '../../platform/nodes/told-facts.ts';
import type { ChangeMark } from '../../platform/storage/changed-since.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { AgentHolders } from '../agents/service.ts';
import type { StatesService } from './service.ts';
import { HAVE_STATES_CHANGED, selectChangedStates, selectToldRouters, selectToldRoutersOf } from './store.ts';
import type { ToldRouter } from './types.ts';

/** How often agents are looked for that did not come back. */
const LOOK_EVERY_MS = 1000;
/** Agents whose routers are read by one statement when they connect. */
const AGENTS_AT_ONCE = 100;

interface Deps {
  storage: Storage;
  clock: Clock;
  log: Log;
  cluster: Pick<Cluster, 'bus' | 'looks'>;
  holders: AgentHolders;
  states: StatesService;
  /** The usual time in which an agent comes back, milliseconds. */
  offlineAfterMs: number;
}

/**
 * States of routers whose agents have their tunnels with other control planes. Who has the tunnel computes the states and stores them; the
 * others read them. When nobody has it any more, and nobody said how it ended, one of them makes its routers `agent_away` after the usual
 * time in which agents come back.
 */
export class ToldStates {
  readonly #deps: Deps;
  readonly #told: ToldFacts;
  /** When agents that nobody has are given up. */
  readonly #due = new NextMoments();
  readonly #looks: Periodic;
  readonly #reads: Gathered<string, ToldRouter[]>;
  #mark: ChangeMark;
  #unsubscribe: (() => void)[] = [];

  constructor(deps: Deps) {
    this.#deps = deps;
    const { storage, clock, log, cluster } = deps;
    this.#told = new ToldFacts({
      cluster,
      clock,
      log,
      subject: 'signalbox.facts.states',
      failure: 'states that other control planes have stored could not be read',
      asks: HAVE_STATES_CHANGED,
      readChanged: () => this.#readChanged(),
      readOf: async (ids) => this.#apply(await selectToldRouters(storage.db, ids)),
    });
    this.#looks = new Periodic({
      clock,
      log,
      everyMs: LOOK_EVERY_MS,
      failure: 'the look for agents that did not come back failed',
      run: () => this.#giveUp(),
    });
    this.#reads = new Gathered({
      most: AGENTS_AT_ONCE,
      apartMs: AGENTS_APART_MS,
      run: async (agentIds) => {
        const routers = Map.groupBy(await selectToldRoutersOf(storage.db, agentIds), ({ router }) => router.agent_id);
        return agentIds.map((id) => routers.get(id) ?? []);
      },
    });
  }

  /** After the states. */
  async start(): Promise<void> {
    const { holders, states } = this.#deps;
    this.#unsubscribe = [
      holders.changes.subscribe(({ agentId, nodeId }) => (nodeId === undefined ? this.#onLost(agentId) : this.#onHeld(agentId))),
      states.history.storedOf.subscribe((routerIds) => this.#told.tell(routerIds)),
      states.history.refusedOf.subscribe((routerIds) => this.#told.want(routerIds)),
    ];
    for (const agentId of holders.lostAgents) this.#onLost(agentId);
    await this.#told.start();
    this.#looks.start();
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await Promise.all([this.#looks.stop(), this.#reads.stop(), this.#told.stop()]);
  }

  /** @throws AppError when the database cannot be used */
  async onReady(connection: AgentConnection): Promise<void> {
    const { states } = this.#deps;
    states.takeOver(connection.agentId, await this.#reads.call(connection.agentId));
    states.onReady(connection);
    void states.history.stored();
  }

  onGone(connection: AgentConnection, end: TunnelEnd): void {
    const { states } = this.#deps;
    // Whoever has the newer tunnel knows better; and agents of a control plane that stops come back to another one. An agent that another
    // machine replaces has none yet: the other one gets its credential when this one is gone.
    const hasNewer = end.endedBy === 'replaced' && end.isRevoked !== true;
    if (!hasNewer && end.endedBy !== 'server_stopped') states.onGone(connection, end);
    states.release(connection.agentId);
    void states.history.stored();
  }

  #onHeld(agentId: string): void {
    const { holders, states } = this.#deps;
    this.#due.delete(agentId);
    if (!holders.isElsewhere(agentId)) return;
    states.release(agentId);
    this.#told.want(states.idsOf(agentId));
  }

  #onLost(agentId: string): void {
    const { holders, offlineAfterMs, clock } = this.#deps;
    this.#due.atLatest(agentId, (holders.lost(agentId)?.noticedAt ?? clock.monotonic()) + offlineAfterMs);
  }

  async #giveUp(): Promise<void> {
    const { holders, states, storage, clock, offlineAfterMs } = this.#deps;
    const now = clock.monotonic();
    const late: string[] = [];
    for (let id = this.#due.takeReached(now); id !== undefined; id = this.#due.takeReached(now)) {
      if (!holders.lost(id)) continue;
      // Whoever does it may end before it is done, so that the next one finds it.
      if (!states.isAway(id)) this.#due.atLatest(id, now + offlineAfterMs);
      if (holders.isOwnAway(id) && !states.isAway(id)) late.push(id);
    }
    for (let from = 0; from < late.length; from += AGENTS_AT_ONCE) {
      const some = late.slice(from, from + AGENTS_AT_ONCE);
      this.#apply(await selectToldRoutersOf(storage.db, some));
      for (const agentId of some) {
        const lost = holders.lost(agentId);
        // Every other end is stored by the control plane that has recorded it.
        if (lost) states.onLost(agentId, { since: lost.since, reason: lost.isRecorded ? 'server_stopped' : 'unknown' });
      }
    }
  }

  async #readChanged(): Promise<void> {
    const { storage, states } = this.#deps;
    const { rows, mark } = await selectChangedStates(storage.db, this.#mark);
    const unknown = rows.filter((row) => !states.tellState(row)).map(({ router_id: routerId }) => routerId);
    if (unknown.length > 0) this.#told.want(unknown);
    this.#mark = mark;
  }

  #apply(routers: readonly ToldRouter[]): void {
    for (const router of routers) this.#deps.states.tell(router);
  }
}
