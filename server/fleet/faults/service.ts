import type { Health, Heartbeat } from '../../../protocol/index.ts';
import type { SharedUse } from '../../../runtime/fair-shares.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Found, ListPage } from '../../platform/core/list-page.ts';
import { findFaults } from './list/store.ts';
import type { FaultFilter } from './list/types.ts';
import { NextMoments } from '../../platform/core/next-moments.ts';
import type { Page } from '../../platform/core/page.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { StatesService } from '../states/service.ts';
import type { RoutersService } from '../routers/service.ts';
import type { RouterRecord } from '../routers/types.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { Changes } from './changes.ts';
import { parseAmbience } from './rule.ts';
import { selectFaults, selectOpenFaults, selectWatchedRouters } from './store.ts';
import type { FaultChange, FaultEvent, FaultRecord, FaultRules, FaultType, Finding } from './types.ts';
import { RouterWatch } from './watch.ts';
import type { WatchStart } from './watch.ts';

/** For a removal, which ends a router's faults in its own transaction. */
export { resolveAllOf } from './agents/store.ts';

export interface FaultsDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  rules: FaultRules;
  routers: Pick<RoutersService, 'getRouter'>;
  states: Pick<StatesService, 'verdictOf' | 'changes'>;
  /** The ambient temperatures a product was tested in, in the catalogue's format (`-40°C to 70°C`); null when unknown. */
  testedAmbience?: (router: RouterRecord) => string | null;
  /** Called for every fault that was opened or resolved, after it is stored. */
  onFault?: (event: FaultEvent) => void;
  counters?: Counters;
}

interface Watched {
  routerId: string;
  teamId: string;
  agentId: string;
  /** The agent's name for it; empty once another device answers under that name. */
  name: string;
  watch: RouterWatch;
}

/** Detects faults of routers from their states and from agents' reports, and stores them. */
export class FaultsService {
  readonly #deps: FaultsDeps;
  readonly #changes: Changes;
  readonly #watched = new Map<string, Watched>();
  /** Router ids by agent and the agent's name for the router. */
  readonly #byName = new Map<string, string>();
  /** When states become faults. */
  readonly #due = new NextMoments();
  readonly #sweeps: Periodic;
  #unsubscribe: (() => void) | undefined;

  constructor(deps: FaultsDeps) {
    this.#deps = deps;
    this.#changes = new Changes(deps);
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      // A fifth of the time after which a router is offline, so that a fault opens soon after.
      everyMs: Math.min(10_000, Math.max(250, deps.rules.offlineAfterMs / 5)),
      failure: 'the check for faults failed',
      run: () => this.sweep(),
    });
  }

  /** Changes that are waiting for the database. */
  get waiting(): SharedUse {
    return this.#changes.shares;
  }

  /** Loads the open faults, after the states. Agents have their usual time to reconnect. */
  async start(): Promise<void> {
    const { db } = this.#deps.storage;
    const { clock } = this.#deps;
    const now = clock.monotonic();
    const open = await selectOpenFaults(db);
    for (const row of await selectWatchedRouters(db)) {
      this.#add(row.id, row.team_id, row.agent_id, row.agent_router, {
        uptimeSeconds: row.uptime_seconds,
        // A time in the future means that the clock was set back.
        lastSeenAt: row.last_seen_at === null ? null : now - Math.max(0, clock.now() - row.last_seen_at),
        openFaults: open.get(row.id) ?? [],
        watchedSince: now,
      });
    }
    this.#unsubscribe = this.#deps.states.changes.subscribe(({ routerId }) => {
      const watched = this.#watched.get(routerId);
      if (watched) this.#checkState(watched);
    });
    this.#sweeps.start();
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#sweeps.stop();
    await this.#changes.stored();
  }

  /** Resolves when the changes so far are stored, or could not be stored now. */
  async stored(): Promise<void> {
    await this.#changes.stored();
  }

  /** @throws AppError `not_found`, also for another team's router */
  async listFaults(teamId: string, routerId: string, page: Page, status?: 'open' | 'resolved'): Promise<FaultRecord[]> {
    await this.#deps.routers.getRouter(teamId, routerId, { orRemoved: true });
    return selectFaults(this.#deps.storage.db, { teamId, routerId, status }, page);
  }

  /** One page of the faults of a team that match. */
  listTeamFaults(teamId: string, filter: FaultFilter, page: ListPage, wantsTotal: boolean): Promise<Found<FaultRecord>> {
    return findFaults(this.#deps.storage.db, teamId, filter, page, wantsTotal);
  }

  onHeartbeat({ agentId }: AgentConnection, heartbeat: Heartbeat): void {
    const now = this.#deps.clock.monotonic();
    for (const { name, reachable, uptime_seconds: uptimeSeconds, reason } of heartbeat.routers) {
      const watched = this.#find(agentId, name);
      if (!watched) continue;
      this.#record(watched, watched.watch.onHeartbeat({ reachable, uptimeSeconds, reason }, now));
      this.#checkState(watched);
    }
  }

  /** Assigns a name to a router: the same one, one that moved here, or another device in its place. */
  onInventory({ agentId }: AgentConnection, router: RouterRecord): void {
    const before = this.#find(agentId, router.agent_router);
    if (before && before.routerId !== router.id) before.name = '';
    const watched = this.#watched.get(router.id) ?? this.#add(router.id, router.team_id, agentId, router.agent_router);
    this.#move(watched, agentId, router.agent_router);
    watched.watch.testedIn(parseAmbience(this.#deps.testedAmbience?.(router) ?? null));
  }

  /** Another device answers under this name, and no router has the name now: its reports no longer concern the former router. */
  onEntryLost({ agentId }: AgentConnection, name: string): void {
    const before = this.#find(agentId, name);
    if (before) before.name = '';
    this.#byName.delete(keyOf(agentId, name));
  }

  onHealth({ agentId }: AgentConnection, { router, readings }: Health): void {
    const watched = this.#find(agentId, router);
    if (watched) this.#record(watched, watched.watch.onHealth(readings, this.#deps.clock.monotonic()));
  }

  /** Opens, updates or resolves (null) a fault that another component detects. Ignored for an unknown router. */
  setCondition(routerId: string, type: FaultType, finding: Finding | null): void {
    const watched = this.#watched.get(routerId);
    if (watched) this.#record(watched, watched.watch.onCondition(type, finding, this.#deps.clock.monotonic()));
  }

  /** The router was removed or replaced; its present state passes to its successor, if any. */
  forget(routerId: string, successor?: RouterRecord): void {
    if (successor) this.#drop(successor.id);
    const watched = this.#drop(routerId);
    if (!watched || !successor) return;
    watched.routerId = successor.id;
    this.#watched.set(successor.id, watched);
    this.#due.atLatest(successor.id, Number.NEGATIVE_INFINITY);
    this.#move(watched, successor.agent_id, successor.agent_router);
  }

  /** Opens faults of states that have lasted long enough. */
  sweep(): void {
    const now = this.#deps.clock.monotonic();
    for (let id = this.#due.takeReached(now); id !== undefined; id = this.#due.takeReached(now)) {
      const watched = this.#watched.get(id);
      if (watched) this.#checkState(watched);
    }
    this.#changes.store();
  }

  #checkState(watched: Watched): void {
    const verdict = this.#deps.states.verdictOf(watched.routerId);
    if (!verdict) return;
    const { routerId, watch } = watched;
    this.#record(watched, watch.onState(verdict, this.#deps.clock.monotonic()));
    const dueAt = watch.dueAt(verdict);
    if (dueAt !== undefined) this.#due.atLatest(routerId, dueAt);
  }

  /** Converts the monotonic times of a {@link RouterWatch} into wall time. */
  #record(watched: Watched, changes: readonly FaultChange[]): void {
    // As nearly always: every heartbeat and every reading comes by here.
    if (changes.length === 0) return;
    const { clock } = this.#deps;
    const ahead = clock.now() - clock.monotonic();
    this.#changes.add(
      watched,
      changes.map((change) => (change.kind === 'describe' ? change : { ...change, at: Math.round(change.at + ahead) })),
    );
  }

  #find(agentId: string, name: string): Watched | undefined {
    const routerId = this.#byName.get(keyOf(agentId, name));
    return routerId === undefined ? undefined : this.#watched.get(routerId);
  }

  #add(
    routerId: string,
    teamId: string,
    agentId: string,
    name: string,
    start: WatchStart = { uptimeSeconds: null, lastSeenAt: null, openFaults: [], watchedSince: Number.NEGATIVE_INFINITY },
  ): Watched {
    const watched = { routerId, teamId, agentId, name, watch: new RouterWatch(this.#deps.rules, start) };
    this.#watched.set(routerId, watched);
    // The first sweep looks at its state.
    this.#due.atLatest(routerId, Number.NEGATIVE_INFINITY);
    if (name !== '') this.#byName.set(keyOf(agentId, name), routerId);
    return watched;
  }

  #move(watched: Watched, agentId: string, name: string): void {
    const old = keyOf(watched.agentId, watched.name);
    if (this.#byName.get(old) === watched.routerId) this.#byName.delete(old);
    watched.agentId = agentId;
    watched.name = name;
    this.#byName.set(keyOf(agentId, name), watched.routerId);
  }

  #drop(routerId: string): Watched | undefined {
    const watched = this.#watched.get(routerId);
    if (!watched) return undefined;
    this.#watched.delete(routerId);
    this.#due.delete(routerId);
    const key = keyOf(watched.agentId, watched.name);
    if (this.#byName.get(key) === routerId) this.#byName.delete(key);
    return watched;
  }
}

/** Neither part can contain a NUL. */
function keyOf(agentId: string, name: string): string {
  return `${agentId}\0${name}`;
}
