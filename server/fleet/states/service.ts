import type { Heartbeat } from '../../../protocol/index.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import { NextMoments } from '../../platform/core/next-moments.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { TunnelEnd } from '../../platform/core/tunnel-record.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { RoutersService } from '../routers/service.ts';
import type { RouterRecord } from '../routers/types.ts';
import { momentOf } from '../sessions/service.ts';
import type { KnownRuns } from '../sessions/types.ts';
import { countStates } from './counts.ts';
import { StateHistory } from './history.ts';
import { firstState, resumed } from './resume.ts';
import { silentAfter, stateOf } from './rule.ts';
import type { RouterFacts } from './rule.ts';
import { selectOpenStates, selectWatched } from './store.ts';
import { TrackedRouters } from './tracked-routers.ts';
import type { Tracked } from './tracked-routers.ts';
import type { RouterState, RouterStateName, StateChange, StateOfRouter, StateRow, Verdict } from './types.ts';

export { countStates };

/** Interval of the check for silent routers, so that the event comes when the list changes. */
const LOOK_EVERY_MS = 1000;

export interface StatesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  counters?: Counters | undefined;
  routers: Pick<RoutersService, 'routerIdOf' | 'lastHeartbeatOf'>;
  runs: KnownRuns;
  /** A router that its connected agent does not report for this long is `not_reported`, milliseconds. */
  offlineAfterMs: number;
  /** States that ended longer ago are deleted, milliseconds. */
  keepMs: number;
}

/** Computes the state of each router; no other place does. It never waits for the database. */
export class StatesService {
  /** Published in the event-loop turn in which a state changes. */
  readonly changes = new Listeners<StateChange>();
  readonly history: StateHistory;
  readonly #deps: StatesDeps;
  readonly #routers = new TrackedRouters();
  /** Agents with a report since the start: until then the states of their routers stay unchanged. */
  readonly #agents = new Map<string, RouterFacts['agent']>();
  /** Changes found at the start, before any listener is subscribed. */
  #foundAtStart: { tracked: Tracked; row: StateRow; before: RouterStateName }[] = [];
  /** When routers are silent if nothing more is heard: the only changes that come by time alone. */
  readonly #silences = new NextMoments();
  readonly #checks: Periodic;

  constructor(deps: StatesDeps) {
    this.#deps = deps;
    this.history = new StateHistory(deps);
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
    const { storage, clock, runs } = this.#deps;
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

  #publish({ id, teamId, identity, agentId, current }: Tracked, before: RouterStateName): void {
    const { state, since, reason } = current;
    this.changes.publish({ teamId, routerId: id, identity, agentId, before, state: state as RouterStateName, since, reason });
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

function stateOfTracked({ id, agentId, current: { state, since, reason } }: Tracked): StateOfRouter {
  return { id, agentId, state: state as RouterStateName, since, reason };
}
