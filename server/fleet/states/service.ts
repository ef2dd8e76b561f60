import { isDeepStrictEqual } from 'node:util';
import type { Heartbeat } from '../../../protocol/index.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import { NextMoments } from '../../platform/core/next-moments.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { TunnelEnd } from '../../platform/core/tunnel-record.ts';
import type { RouterRecord } from '../routers/types.ts';
import { momentOf } from '../sessions/service.ts';
import { countStates } from './counts.ts';
import type { StatesDeps } from './deps.ts';
import { StateHistory } from './history.ts';
import { firstState, resumed } from './resume.ts';
import { silentAfter, stateOf } from './rule.ts';
import type { RouterFacts } from './rule.ts';
import { selectOpenStates, selectWatched } from './store.ts';
import { stateOfTracked, TrackedRouters } from './tracked-routers.ts';
import type { Tracked } from './tracked-routers.ts';
import type { RouterState, RouterStateName, StateChange, StateOfRouter, StateRow, StoredRouter, ToldRouter, Verdict } from './types.ts';

export { countStates };

/** Interval of the check for silent routers, so that the event comes when the list changes. */
const LOOK_EVERY_MS = 1000;

/**
 * Computes the state of each router; no other place does. It never waits for the database. Where several control planes serve the database,
 * each computes the states of the agents whose tunnels it has, and is told those of the others (states/told.ts).
 */
export class StatesService {
  /** Published in the event-loop turn in which a state changes. */
  readonly changes = new Listeners<StateChange>();
  /** States that another control plane has changed. */
  readonly told = new Listeners<StateChange>();
  readonly history: StateHistory;
  readonly #deps: StatesDeps;
  readonly #routers = new TrackedRouters();
  /** Agents with a report since the start: until then the states of their routers stay unchanged, and so do those of agents of others. */
  readonly #agents = new Map<string, RouterFacts['agent']>();
  /** Changes found at the start, before any listener is subscribed. */
  #foundAtStart: { tracked: Tracked; row: StateRow; before: RouterStateName }[] = [];
  /** When routers are silent if nothing more is heard: the only changes that come by time alone. */
  readonly #silences = new NextMoments();
  readonly #checks: Periodic;
  /** Routers whose present state here is perhaps not the stored one, although it is newer: the next that is told counts. */
  readonly #doubtful = new Set<string>();

  constructor(deps: StatesDeps) {
    this.#deps = deps;
    this.history = new StateHistory({ ...deps, rights: deps.shared?.rights });
    this.history.refusedOf.subscribe((routerIds) => {
      for (const id of routerIds) this.#doubtful.add(id);
    });
    this.#checks = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: LOOK_EVERY_MS,
      failure: 'the check of router states failed',
      run: () => {
        this.#publishFoundAtStart();
        this.#updateSilent();
      },
    });
  }

  /** The time without a control plane is unknown: until its agent is back, a router is `agent_away` since the stop. */
  async start(): Promise<void> {
    const { storage, clock, runs, shared } = this.#deps;
    if (shared?.othersServe()) return this.#startBeside();
    const open = new Map((await selectOpenStates(storage.db)).map((row) => [row.router_id, row]));
    const former = runs.former ?? { endedAt: clock.now(), endedBy: 'unknown' as const };
    for (const router of await selectWatched(storage.db)) {
      const stored = open.get(router.id);
      open.delete(router.id);
      const { since, ...rest } = stored ? resumed(stored, router, former) : firstState(router, former);
      const isSame = stored !== undefined && rest.state === stored.state;
      const current = isSame
        ? stored
        : this.history.begin({ teamId: router.team_id, routerId: router.id, ...rest, since: Math.min(since, clock.now()) }, stored);
      const tracked = this.#track({
        id: router.id,
        teamId: router.team_id,
        identity: router.identity,
        agentId: router.agent_id,
        name: router.agent_router,
        current,
      });
      if (stored && !isSame) this.#foundAtStart.push({ tracked, row: current, before: stored.state as RouterStateName });
    }
    // These routers were removed while their end could not be written.
    for (const row of open.values()) this.history.end(row, former.endedAt);
    this.history.start();
    this.#checks.start();
  }

  /** Others have computed the states until now. */
  async #startBeside(): Promise<void> {
    const { db } = this.#deps.storage;
    const open = new Map((await selectOpenStates(db)).map((row) => [row.router_id, row]));
    for (const router of await selectWatched(db)) this.tell({ router, current: open.get(router.id) });
    this.history.start();
    this.#checks.start();
  }

  async stop(): Promise<void> {
    await this.#checks.stop();
    await this.history.stop();
  }

  /** The state of a router now; undefined for one that was removed. Reading it takes no query. */
  of(routerId: string): RouterState | undefined {
    const router = this.#routers.get(routerId);
    if (!router) return undefined;
    this.#update(router);
    const { state, since, reason } = router.current;
    return { state: state as RouterStateName, since, reason };
  }

  /** The same with its agent. */
  find(routerId: string): StateOfRouter | undefined {
    const router = this.#routers.get(routerId);
    return router && this.#now(router);
  }

  /** The same with a monotonic time, for waits that count from the moment at which a state began. */
  verdictOf(routerId: string): Verdict | undefined {
    const router = this.#routers.get(routerId);
    if (!router) return undefined;
    this.#update(router);
    return { state: router.current.state as RouterStateName, since: router.since, reason: router.current.reason };
  }

  /** The routers of a team with their states now, in no order: 10,000 take some milliseconds, and no query. */
  ofTeam(teamId: string): StateOfRouter[] {
    this.#updateSilent();
    return Array.from(this.#routers.ofTeam(teamId), stateOfTracked);
  }

  /** Number of the team's routers in each state. */
  countsOf(teamId: string): Record<RouterStateName, number> {
    this.#updateSilent();
    return this.#routers.countsOf(teamId);
  }

  /** Number of routers in each state, by team. */
  counts(): Map<string, Record<RouterStateName, number>> {
    return new Map(this.#routers.teamIds.map((teamId) => [teamId, this.countsOf(teamId)]));
  }

  onReady({ agentId }: AgentConnection): void {
    this.#setAgent(agentId, { connected: true, since: this.#deps.clock.monotonic() });
  }

  onGone({ agentId }: AgentConnection, end: TunnelEnd): void {
    for (const router of this.#routers.ofAgent(agentId)) router.heartbeat = undefined;
    this.#setAgent(agentId, { connected: false, since: this.#elapsedAt(momentOf(end)), reason: end.endedBy });
  }

  /** The agent's tunnel is with another control plane, or with none: from now on the states of its routers are told. */
  release(agentId: string): void {
    for (const router of this.#routers.ofAgent(agentId)) router.heartbeat = undefined;
    this.#agents.delete(agentId);
  }

  /** The agent's tunnel ended some time ago without a word, and it has not come back. Returns to be told of it. */
  onLost(agentId: string, { since, reason }: { since: number; reason: string }): void {
    if (this.#agents.has(agentId)) return;
    this.#agents.set(agentId, { connected: false, since: this.#elapsedAt(since), reason });
    // One that was away already keeps its reason.
    for (const router of this.#routers.ofAgent(agentId)) if (router.current.state !== 'agent_away') this.#update(router);
    this.#agents.delete(agentId);
  }

  /** Ids of the agent's routers, as far as is known. */
  idsOf(agentId: string): string[] {
    return Array.from(this.#routers.ofAgent(agentId), ({ id }) => id);
  }

  /** Another control plane has given the router to this agent. */
  onMovedElsewhere({ id, agent_id: agentId, agent_router: name }: RouterRecord): void {
    const router = this.#routers.get(id);
    if (!router) return;
    this.#routers.move(router, agentId);
    Object.assign(router, { name, named: name !== '', heartbeat: undefined });
  }

  /** What the database says of a router that is not removed. */
  tell({ router: stored, current }: ToldRouter): void {
    const known = this.#routers.get(stored.id);
    if (!known) {
      this.#trackTold(stored, current);
      return;
    }
    if (known.agentId !== stored.agent_id && !this.#agents.has(known.agentId)) this.#routers.move(known, stored.agent_id);
    if (!this.#agents.has(known.agentId))
      Object.assign(known, { name: stored.agent_router, identity: stored.identity, named: stored.agent_router !== '' });
    if (current) this.tellState(current);
  }

  /** A stored present state. @returns false when the router is not known */
  tellState(row: StateRow): boolean {
    const router = this.#routers.get(row.router_id);
    if (!router) return false;
    const { current } = router;
    if (this.#agents.has(router.agentId)) this.#settle(router, row);
    // What this control plane has begun and not stored yet is newer.
    else if (row.id >= current.id || this.#doubtful.has(router.id)) {
      this.#doubtful.delete(router.id);
      if (isDeepStrictEqual(row, current)) return true;
      router.since = this.#elapsedAt(row.since);
      router.heardAt = router.since;
      this.#routers.enter(router, row);
      this.#publish(router, current.state as RouterStateName, this.told);
    }
    return true;
  }

  /** The agent's tunnel is here now, and nobody else writes states of its routers: this control plane goes on from what is stored. */
  takeOver(agentId: string, routers: readonly ToldRouter[]): void {
    this.release(agentId);
    for (const told of routers) {
      this.#doubtful.add(told.router.id);
      this.tell(told);
      this.#doubtful.delete(told.router.id);
      const router = this.#routers.get(told.router.id)!;
      if (told.current) continue;
      const { state, since, reason } = router.current;
      this.#routers.enter(router, this.history.begin({ teamId: router.teamId, routerId: router.id, state, reason, since }));
    }
  }

  /** All routers of the agent are `agent_away`, or were never seen. */
  isAway(agentId: string): boolean {
    for (const { current } of this.#routers.ofAgent(agentId))
      if (current.state !== 'agent_away' && current.state !== 'never_seen') return false;
    return true;
  }

  /** Another control plane has written a state of a router whose agent has its tunnel here now: one of the two goes on. */
  #settle(router: Tracked, row: StateRow): void {
    const { current } = router;
    if (row.id === current.id) return;
    if (row.id < current.id) {
      this.history.end(row, current.since);
      return;
    }
    this.history.end(current, row.since);
    router.since = this.#elapsedAt(row.since);
    this.#routers.enter(router, row);
    this.#update(router);
  }

  #trackTold(stored: StoredRouter, current: StateRow | undefined): void {
    const former = { endedAt: this.#deps.clock.now(), endedBy: 'unknown' as const };
    const first = { teamId: stored.team_id, routerId: stored.id, ...firstState(stored, former) };
    if (!current) this.#doubtful.add(stored.id);
    this.#track({
      id: stored.id,
      teamId: stored.team_id,
      identity: stored.identity,
      agentId: stored.agent_id,
      name: stored.agent_router,
      current: current ?? this.history.assume(first),
    });
  }

  onHeartbeat({ agentId }: AgentConnection, { routers: reports }: Heartbeat): void {
    const { routers, clock } = this.#deps;
    const now = clock.monotonic();
    for (const { name, reachable, reason_code: reason, silent_ms: silentMs } of reports) {
      const router = this.#routers.get(routers.routerIdOf(agentId, name) ?? '');
      const silentSince = silentMs === undefined ? undefined : now - silentMs;
      if (router) this.#onHeard(router, { reachable, reason: reason ?? 'unknown', at: now, silentSince });
    }
  }

  /** An inventory says which router an entry leads to: the same one, one that moved here, or another device. */
  onInventory(record: RouterRecord): void {
    const agentId = record.agent_id;
    this.#loseName(agentId, record.agent_router, record.id);
    const router = this.#routers.get(record.id) ?? this.#takeIn(record);
    if (router.agentId !== agentId) this.#move(router, agentId);
    Object.assign(router, { name: record.agent_router, identity: record.identity, named: true, heardAt: this.#deps.clock.monotonic() });
    // Before the inventory it was unknown which router the report was about.
    const heartbeat = this.#deps.routers.lastHeartbeatOf(agentId, record.agent_router);
    if (heartbeat && !router.heartbeat)
      this.#onHeard(router, {
        reachable: heartbeat.reachable,
        reason: heartbeat.reasonCode ?? 'unknown',
        at: this.#elapsedAt(heartbeat.at),
      });
    else this.#update(router);
  }

  /** Another device answers under this name, so reports about the name are not about the router that had it. */
  onEntryLost({ agentId }: AgentConnection, name: string): void {
    this.#loseName(agentId, name, undefined);
  }

  /** The router was removed. Its successor takes over the present state; the history keeps the old id. */
  forget(routerId: string, successor?: RouterRecord): void {
    const gone = this.#drop(routerId);
    const former = successor && this.#drop(successor.id);
    const now = this.#deps.clock.now();
    if (former) this.history.end(former.current, now);
    if (!gone) return;
    this.history.end(gone.current, now);
    if (!successor) return;
    const { state, reason } = gone.current;
    const current = this.history.begin({ teamId: successor.team_id, routerId: successor.id, state, reason, since: now });
    const next = this.#track({
      ...gone,
      id: successor.id,
      identity: successor.identity,
      agentId: successor.agent_id,
      name: successor.agent_router,
      current,
    });
    this.#publish(next, (former?.current.state ?? state) as RouterStateName);
    this.#update(next);
  }

  /** The wall clock was set: present states keep their age. storage/move-plans.ts moves the rows in the database. */
  onClockStep(stepMs: number): void {
    for (const router of this.#routers.all())
      this.#routers.enter(router, this.history.change(router.current, { since: router.current.since + stepMs }));
  }

  async sweep(signal?: AbortSignal): Promise<void> {
    await this.history.sweep(signal);
  }

  #now(router: Tracked): StateOfRouter {
    this.#update(router);
    return stateOfTracked(router);
  }

  #setAgent(agentId: string, agent: RouterFacts['agent']): void {
    this.#agents.set(agentId, agent);
    for (const router of this.#routers.ofAgent(agentId)) this.#update(router);
  }

  #onHeard(router: Tracked, heartbeat: NonNullable<Tracked['heartbeat']>): void {
    router.heartbeat = heartbeat;
    router.heardAt = heartbeat.at;
    this.#update(router);
  }

  /** Afterwards every state is that of now: facts update it when they change. */
  #updateSilent(): void {
    const now = this.#deps.clock.monotonic();
    for (let id = this.#silences.takePassed(now); id !== undefined; id = this.#silences.takePassed(now)) {
      const router = this.#routers.get(id);
      if (router) this.#update(router);
    }
  }

  /** Computes the state from the facts, and publishes a change. Call it when a fact has changed. */
  #update(router: Tracked): void {
    const { clock, offlineAfterMs } = this.#deps;
    const { current, heartbeat, named, heardAt } = router;
    const agent = this.#agents.get(router.agentId);
    if (!agent) return;
    const before: Verdict = { state: current.state as RouterStateName, since: router.since, reason: current.reason };
    const facts = { agent, heartbeat, named, heardAt };
    const now = clock.monotonic();
    const silentFrom = silentAfter(facts, offlineAfterMs);
    if (silentFrom !== undefined && silentFrom >= now) this.#silences.atLatest(router.id, silentFrom);
    const next = stateOf(before, facts, now, offlineAfterMs);
    if (next.state === current.state && next.reason === current.reason) return;
    if (next.state === current.state) {
      this.#routers.enter(router, this.history.change(current, { reason: next.reason }));
    } else {
      // A silence is detected late, so it never begins before the state that it ends.
      router.since = Math.max(router.since, next.since);
      const since = Math.round(clock.now() - (clock.monotonic() - router.since));
      const begun = { teamId: router.teamId, routerId: router.id, state: next.state, reason: next.reason, since };
      this.#routers.enter(router, this.history.begin(begun, current));
    }
    this.#publish(router, current.state as RouterStateName);
  }

  /** Without what has changed again, which was published then. */
  #publishFoundAtStart(): void {
    for (const { tracked, row, before } of this.#foundAtStart)
      if (tracked.current === row && this.#routers.get(tracked.id) === tracked) this.#publish(tracked, before);
    this.#foundAtStart = [];
  }

  #publish({ id, teamId, identity, agentId, current }: Tracked, before: RouterStateName, to = this.changes): void {
    const { state, since, reason } = current;
    to.publish({ teamId, routerId: id, identity, agentId, before, state: state as RouterStateName, since, reason });
  }

  #takeIn(record: RouterRecord): Tracked {
    const { id, team_id: teamId, identity, agent_id: agentId, agent_router: name } = record;
    const current = this.history.begin({ teamId, routerId: id, state: 'never_seen', reason: null, since: record.created_at });
    return this.#track({ id, teamId, identity, agentId, name, current });
  }

  #track(router: Omit<Tracked, 'heartbeat' | 'named' | 'heardAt' | 'since'> & Partial<Tracked>): Tracked {
    const since = this.#elapsedAt(router.current.since);
    const tracked: Tracked = { heartbeat: undefined, heardAt: since, ...router, since, named: router.name !== '' };
    this.#routers.add(tracked);
    return tracked;
  }

  #drop(routerId: string): Tracked | undefined {
    const router = this.#routers.remove(routerId);
    if (router) this.history.forget(routerId);
    this.#silences.delete(routerId);
    this.#doubtful.delete(routerId);
    return router;
  }

  #move(router: Tracked, agentId: string): void {
    if (!this.#agents.has(agentId)) this.#setAgent(agentId, { connected: false, since: this.#deps.clock.monotonic(), reason: 'unknown' });
    this.#routers.move(router, agentId);
    router.heartbeat = undefined;
  }

  #loseName(agentId: string, name: string, exceptId: string | undefined): void {
    for (const router of this.#routers.ofAgent(agentId)) {
      if (router.name !== name || router.id === exceptId) continue;
      Object.assign(router, { name: '', named: false, heartbeat: undefined });
      this.#update(router);
    }
  }

  /** Converts a past wall time into monotonic time. */
  #elapsedAt(wallMs: number): number {
    const { clock } = this.#deps;
    return clock.monotonic() - Math.max(0, clock.now() - wallMs);
  }
}
