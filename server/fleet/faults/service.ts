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
import { AGENTS_APART_MS, Gathered } from '../../platform/core/gathered.ts';
import type { Members } from '../../platform/nodes/members.ts';
import type { AgentHolders, WatchRights } from '../agents/service.ts';
import type { StatesService } from '../states/service.ts';
import type { RoutersService } from '../routers/service.ts';
import type { RouterRecord } from '../routers/types.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { Changes } from './changes.ts';
import { parseAmbience } from './rule.ts';
import { selectFaults, selectOpenFaults, selectOpenFaultsOf, selectWatchedRouters, selectWatchedRoutersOf } from './store.ts';
import type { WatchedRouter } from './store.ts';
import type { FaultChange, FaultEvent, FaultRecord, FaultRules, FaultType, Finding } from './types.ts';
import { RouterWatch } from './watch.ts';
import type { WatchStart } from './watch.ts';

/** For a removal, which ends a router's faults in its own transaction. */
export { resolveAllOf } from './agents/store.ts';

/** Several control planes: each agent's routers are watched by the one that has its tunnel, or by one of them while nobody has it. */
export interface SharedFaults {
  holders: Pick<AgentHolders, 'isOwnAway' | 'lostAgents' | 'changes'>;
  members: Pick<Members, 'changes'>;
  rights: WatchRights;
}

export interface FaultsDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  rules: FaultRules;
  routers: Pick<RoutersService, 'getRouter'>;
  states: Pick<StatesService, 'verdictOf' | 'changes' | 'told'>;
  /** Where several control planes serve the database. */
  sharing?: SharedFaults | undefined;
  /** The ambient temperatures a product was tested in, in the catalogue's format (`-40°C to 70°C`); null when unknown. */
  testedAmbience?: (router: RouterRecord) => string | null;
  /** Called for every fault that was opened or resolved, after it is stored. */
  onFault?: (event: FaultEvent) => void;
  counters?: Counters;
}

/** Agents whose routers are read by one statement. */
const AGENTS_AT_ONCE = 100;

interface TakenOver {
  routers: readonly WatchedRouter[];
  open: ReadonlyMap<string, FaultType[]>;
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
  /** Where several control planes serve the database: the agents that this one watches, with what is stored of their routers. */
  readonly #ownAgents = new Set<string>();
  readonly #reads: Gathered<string, TakenOver>;
  /** Agents with a tunnel here. */
  readonly #here = new Set<string>();
  /** Agents without a tunnel whose faults could not be read. */
  readonly #unread = new Set<string>();
  #takingOver: Promise<void> = Promise.resolve();
  #unsubscribe: (() => void)[] = [];

  constructor(deps: FaultsDeps) {
    this.#deps = deps;
    this.#changes = new Changes({ ...deps, rights: deps.sharing?.rights });
    this.#reads = new Gathered({ most: AGENTS_AT_ONCE, apartMs: AGENTS_APART_MS, run: (agentIds) => this.#readAgents(agentIds) });
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
    const { states } = this.#deps;
    const open = await selectOpenFaults(db);
    for (const row of await selectWatchedRouters(db))
      this.#add(row.id, row.team_id, row.agent_id, row.agent_router, this.#startOf(row, open));
    const onState = ({ routerId }: { routerId: string }): void => {
      const watched = this.#watched.get(routerId);
      if (watched) this.#checkState(watched);
    };
    this.#unsubscribe = [states.changes.subscribe(onState), states.told.subscribe(onState), ...this.#share()];
    this.#sweeps.start();
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.#sweeps.stop();
    await this.#reads.stop();
    await this.#takingOver;
    await this.#changes.stored();
  }

  /** The agent's tunnel is here now: what is stored of its routers is where this control plane goes on. @throws AppError when it cannot be read */
  async onReady({ agentId }: AgentConnection): Promise<void> {
    if (!this.#deps.sharing) return;
    const stored = await this.#reads.call(agentId);
    this.#here.add(agentId);
    this.#takeOver(agentId, stored);
  }

  onGone({ agentId }: AgentConnection): void {
    // Who watches it from now on reads anew when the end of the tunnel is stored.
    this.#here.delete(agentId);
    this.#ownAgents.delete(agentId);
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

  /** Another control plane has given the router to another agent. */
  onMovedElsewhere({ id, agent_id: agentId, agent_router: name }: RouterRecord): void {
    const watched = this.#watched.get(id);
    if (watched) this.#move(watched, agentId, name);
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

  /**
   * Opens, updates or resolves (null) the fault that other agents report the router. The control plane that sees it need not watch the router,
   * nor have seen the claims before: the database says whether the fault is open.
   */
  setClaims({ id: routerId, team_id: teamId, agent_id: agentId }: RouterRecord, finding: Finding | null): void {
    const of = { type: 'move_requested', at: this.#deps.clock.now() } as const;
    const change: FaultChange = finding === null ? { kind: 'resolve', ...of } : { kind: 'open', ...of, finding, isTold: true };
    this.#changes.add({ teamId, routerId, agentId }, [change]);
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
    if (this.#unread.size > 0) {
      const again = [...this.#unread];
      this.#unread.clear();
      this.#watchAway(again);
    }
    this.#changes.store();
  }

  /** @returns functions that end the subscriptions */
  #share(): (() => void)[] {
    const { sharing } = this.#deps;
    if (!sharing) return [];
    const { holders, members } = sharing;
    const review = (): void => this.#watchAway([...holders.lostAgents]);
    review();
    return [
      members.changes.subscribe(review),
      holders.changes.subscribe(({ agentId, nodeId }) => {
        if (nodeId === undefined) this.#watchAway([agentId]);
        else if (!this.#here.has(agentId)) this.#ownAgents.delete(agentId);
      }),
    ];
  }

  /** Begins to watch those of these agents without a tunnel that this control plane shall watch, and ends it for the others. */
  #watchAway(agentIds: readonly string[]): void {
    const { holders } = this.#deps.sharing!;
    const added: string[] = [];
    for (const id of agentIds) {
      if (this.#here.has(id)) continue;
      if (!holders.isOwnAway(id)) this.#ownAgents.delete(id);
      else if (!this.#ownAgents.has(id)) added.push(id);
    }
    if (added.length > 0)
      this.#takingOver = Promise.all([this.#takingOver, ...added.map((id) => this.#watchOneAway(id))]).then(() => undefined);
  }

  /** Never rejects: the next sweep tries again. */
  async #watchOneAway(agentId: string): Promise<void> {
    try {
      const read = await this.#reads.call(agentId);
      if (!this.#here.has(agentId) && this.#deps.sharing!.holders.isOwnAway(agentId)) this.#takeOver(agentId, read);
    } catch (error) {
      this.#deps.log.warn({ err: error, agent_id: agentId }, 'the faults of an agent without a tunnel could not be read');
      this.#unread.add(agentId);
    }
  }

  async #readAgents(agentIds: readonly string[]): Promise<TakenOver[]> {
    const { db } = this.#deps.storage;
    const routers = Map.groupBy(await selectWatchedRoutersOf(db, agentIds), (row) => row.agent_id);
    const open = await selectOpenFaultsOf(db, agentIds);
    return agentIds.map((id) => ({ routers: routers.get(id) ?? [], open }));
  }

  #takeOver(agentId: string, { routers, open }: TakenOver): void {
    for (const row of routers) {
      const start = this.#startOf(row, open);
      const known = this.#watched.get(row.id);
      if (!known) {
        this.#add(row.id, row.team_id, agentId, row.agent_router, start);
        continue;
      }
      known.watch = new RouterWatch(this.#deps.rules, start);
      this.#move(known, agentId, row.agent_router);
      this.#due.atLatest(row.id, Number.NEGATIVE_INFINITY);
    }
    this.#ownAgents.add(agentId);
  }

  #startOf(
    { id, uptime_seconds: uptimeSeconds, last_seen_at: lastSeenAt }: WatchedRouter,
    open: ReadonlyMap<string, FaultType[]>,
  ): WatchStart {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    return {
      uptimeSeconds,
      // A time in the future means that the clock was set back.
      lastSeenAt: lastSeenAt === null ? null : now - Math.max(0, clock.now() - lastSeenAt),
      openFaults: open.get(id) ?? [],
      watchedSince: now,
    };
  }

  #checkState(watched: Watched): void {
    if (this.#deps.sharing && !this.#ownAgents.has(watched.agentId)) return;
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
