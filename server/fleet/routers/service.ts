import type { Cluster } from '../../feature.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import { MAX_ROUTERS_PER_AGENT } from '../../../protocol/index.ts';
import type { Heartbeat, Inventory, UnmanagedRouter } from '../../../protocol/index.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { AppError, notFound } from '../../platform/core/errors.ts';
import { FewMap } from '../../platform/core/few.ts';
import { Gathered, READS_AT_ONCE } from '../../platform/core/gathered.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Found, ListPage } from '../../platform/core/list-page.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { AgentHolders } from '../agents/service.ts';
import { noReports, readRecord } from './agent-reports.ts';
import type { AgentReports } from './agent-reports.ts';
import { deviceProblem } from './device-ids.ts';
import { describeEntries } from './entries/describe.ts';
import { EntriesElsewhere } from './entries/elsewhere.ts';
import { DuplicateEntries } from './entries/duplicates.ts';
import { RouterLimits } from './limits.ts';
import { findByState } from './list/by-state.ts';
import { countRouterMatches, selectRouterPage } from './list/store.ts';
import type { RouterFilter, RouterSort, StateFilter } from './list/types.ts';
import { PresenceTracker } from './presence.ts';
import type { RouterHeartbeat, PresenceRules } from './presence.ts';
import { PresenceFlush } from './presence-flush.ts';
import { RouterMoves } from './moves/service.ts';
import { OpeningReads } from './opening.ts';
import type { Sighting } from './moves/service.ts';
import { Sightings } from './moves/sightings.ts';
import type { MoveChange, MoveRules, Owner } from './moves/types.ts';
import {
  isAsStored,
  selectAllPresence,
  selectEveryRouter,
  selectIdsOfIdentity,
  selectRoutersByIds,
  selectRoutersOfAgent,
} from './store.ts';
import type { RouterName } from './store.ts';
import type { AgentEntry, ListedRouter, RouterRecord } from './types.ts';
import { describeUnmanaged } from './unmanaged/describe.ts';
import { ToldPresence } from './told-presence.ts';
import { fillVersionKeys } from './version-keys.ts';

/** How often presence is written; a crash loses at most this much of "last seen". */
const FLUSH_EVERY_MS = 5000;
/** The same where other control planes read it: they show it at most five seconds late. */
const SHARED_FLUSH_EVERY_MS = 2000;
/** Agents report their routers at once. The records of those that do not answer are not kept for longer. */
const RECORDS_KEPT_MS = 60_000;
/** Routers that are read by one statement: those of the requests of one turn of the event loop. */
const ROUTERS_AT_ONCE = 200;
/** Ids that an error message lists. */
const LISTED_NAMESAKES = 5;

export interface RoutersDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  rules: PresenceRules;
  /** When a router may move to another agent; any time when missing. */
  moves?: MoveRules;
  counters?: Counters;
  /** Limit of routers per team; more are rejected. */
  maxPerTeam?: number;
  /** How far statements for agents are apart when many connect (AGENTS_APART_MS); 0 unless given. */
  agentsApartMs?: number;
  /** Where several control planes serve the database. */
  cluster?: Pick<Cluster, 'nodeId' | 'bus' | 'looks'> | null;
  /** The same: which of them has an agent's tunnel. */
  holders?: Pick<AgentHolders, 'holderOf' | 'isElsewhere' | 'lost'> | null;
}

/** The routers of a team: their identity, their agents, and whether they answer. */
export class RoutersService {
  readonly presence: PresenceTracker;
  /** Claims of agents on routers of other agents. */
  readonly moves: RouterMoves;
  /** Entries of one agent that report the same hardware id. */
  readonly duplicates = new DuplicateEntries();
  readonly #deps: RoutersDeps;
  readonly #limits: RouterLimits;
  /** Requests that come together share a statement. */
  readonly #reads: Gathered<RouterName, RouterRecord | undefined>;
  readonly #openings: OpeningReads;
  readonly #sightings: Sightings;
  readonly #reports = new Map<string, AgentReports>();
  /** Since when disconnected agents are gone, milliseconds of monotonic time. */
  readonly #goneSince = new Map<string, number>();
  /** Routers that have moved or were removed so far: shows whether one did while an agent's routers were read. */
  #changesOfOwner = 0;
  readonly #startedAt: number;
  /** Monotonic time of the last look at claims. */
  #sweptAt = Number.NEGATIVE_INFINITY;
  readonly #presenceFlush: PresenceFlush;
  readonly #entriesElsewhere: EntriesElsewhere | null | undefined;
  readonly #toldPresence: ToldPresence | null | undefined;
  readonly #flushes: Periodic;

  constructor(deps: RoutersDeps) {
    this.#deps = deps;
    this.#limits = new RouterLimits(deps);
    this.#reads = new Gathered({
      most: ROUTERS_AT_ONCE,
      atOnce: READS_AT_ONCE,
      run: (wanted) => selectRoutersByIds(deps.storage.db, wanted),
    });
    this.#openings = new OpeningReads(deps.storage, deps.agentsApartMs);
    this.presence = new PresenceTracker(deps.rules, deps.clock);
    const { cluster, holders, ...own } = deps;
    const describe = (teamId: string, agentId: string): AgentEntry[] | undefined => this.#describeOwn(teamId, agentId);
    this.#entriesElsewhere = cluster && holders && new EntriesElsewhere({ cluster, holders, describe });
    this.#toldPresence = cluster && new ToldPresence({ ...own, cluster, presence: this.presence });
    const told = this.#toldPresence;
    this.#presenceFlush = new PresenceFlush({ ...own, ...(told ? { onStored: () => told.onStored() } : {}) }, this.presence);
    this.#flushes = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: cluster ? SHARED_FLUSH_EVERY_MS : FLUSH_EVERY_MS,
      failure: 'presence and moves of routers could not be stored',
      run: () => Promise.all([this.#presenceFlush.run(), this.#sweepMoves()]),
    });
    this.#startedAt = deps.clock.monotonic();
    this.moves = new RouterMoves({
      ...deps,
      rules: deps.moves ?? { free: true, afterMs: 0 },
      ownerOf: (router) => this.#ownerOf(router),
      isConnected: (agentId) => this.#reports.has(agentId),
      hasEntry: (agentId, name) =>
        this.#reports.get(agentId)?.heartbeats.has(name) === true || this.duplicates.reportsOf(agentId)?.has(name) === true,
    });
    this.#sightings = new Sightings(deps.storage, (tx, sighting) => this.moves.recordSighting(tx, sighting), deps.agentsApartMs);
    this.moves.changes.subscribe((change) => this.#onMoveChange(change));
  }

  /** Not with each of the flushes of one of several control planes, which are more frequent. */
  async #sweepMoves(): Promise<void> {
    const now = this.#deps.clock.monotonic();
    if (this.#deps.cluster && now - this.#sweptAt < FLUSH_EVERY_MS) return;
    this.#sweptAt = now;
    await this.moves.sweep();
  }

  async start(): Promise<void> {
    await fillVersionKeys(this.#deps.storage);
    for (const [routerId, presence] of await selectAllPresence(this.#deps.storage.db)) {
      this.presence.load(routerId, presence);
    }
    await this.#toldPresence?.start();
    this.#flushes.start();
  }

  /** Writes what is still in memory. */
  async stop(): Promise<void> {
    await Promise.all([this.#flushes.stop(), this.#reads.stop(), this.#openings.stop(), this.#sightings.stop()]);
    await this.#toldPresence?.stop();
    await this.#presenceFlush.run();
  }

  /**
   * @param orRemoved true: also one that was removed, to read what is kept of it
   * @throws AppError `not_found`, also for another team's router
   */
  async getRouter(teamId: string, routerId: string, { orRemoved = false } = {}): Promise<RouterRecord> {
    const router = await this.#reads.call({ teamId, routerId });
    if (!router || (router.removed_at !== null && !orRemoved)) throw notFound('router');
    return router;
  }

  /**
   * The router with this identity.
   * @throws AppError `not_found`; `conflict`, naming the ids, when several of the team do
   */
  async idOfIdentity(teamId: string, identity: string): Promise<string> {
    const found = await selectIdsOfIdentity(this.#deps.storage.db, teamId, identity, LISTED_NAMESAKES);
    if (found.length > 1) throw new AppError('conflict', `several routers are called ${identity}; name one by its id: ${found.join(', ')}`);
    if (found[0] === undefined) throw notFound(`router ${identity}`);
    return found[0];
  }

  /** One page of the routers that match. */
  async listRouters(
    teamId: string,
    filter: RouterFilter,
    page: ListPage<RouterSort>,
    { wantsTotal, states }: { wantsTotal: boolean; states?: StateFilter | undefined },
  ): Promise<Found<RouterRecord>> {
    const { db } = this.#deps.storage;
    if (states) return findByState(db, teamId, { filter, states, page, wantsTotal });
    const rows = await selectRouterPage(db, teamId, filter, page);
    return { rows, total: wantsTotal ? await countRouterMatches(db, teamId, filter) : undefined };
  }

  /** All routers of all teams. */
  async listEveryRouter(): Promise<ListedRouter[]> {
    return selectEveryRouter(this.#deps.storage.db);
  }

  /** The router behind a name on the agent's present tunnel, once its inventory has arrived. */
  routerIdOf(agentId: string, name: string): string | undefined {
    return this.#reports.get(agentId)?.ids.get(name);
  }

  /** What the agent said last of a name on its present tunnel, whether or not it is known which router that is. */
  lastHeartbeatOf(agentId: string, name: string): RouterHeartbeat | undefined {
    return this.#reports.get(agentId)?.heartbeats.get(name);
  }

  /** The agent's present tunnel. */
  connectionOf(agentId: string): AgentConnection | undefined {
    return this.#reports.get(agentId)?.connection;
  }

  /**
   * The entries of an agent's configuration, including those without a router record of their own. While the agent is
   * offline, only its routers are known.
   */
  async entriesOf(teamId: string, agentId: string): Promise<AgentEntry[]> {
    const reported = this.#describeOwn(teamId, agentId) ?? (await this.#entriesElsewhere?.of(teamId, agentId));
    if (!reported) {
      const routers = await selectRoutersOfAgent(this.#deps.storage.db, teamId, agentId);
      const away = { host: null, reachable: false, reason: 'the agent is not connected', duplicateOf: null };
      return routers.map(({ agent_router: name, id }) => ({ name, routerId: id, ...away }));
    }
    return reported;
  }

  #describeOwn(teamId: string, agentId: string): AgentEntry[] | undefined {
    const reports = this.#reports.get(agentId);
    if (reports?.connection.teamId !== teamId) return undefined;
    return describeEntries({ ...reports, reports: this.duplicates.reportsOf(agentId) });
  }

  /** Another control plane has the agent's tunnel. */
  isElsewhere(agentId: string): boolean {
    return this.#deps.holders?.isElsewhere(agentId) === true;
  }

  /** Another control plane has given the router to this agent: the former one reports it no longer. */
  onMovedElsewhere({ id, agent_id: agentId }: Pick<RouterRecord, 'id' | 'agent_id'>, formerId: string): void {
    if (formerId === agentId) return;
    this.#changesOfOwner += 1;
    const former = this.#reports.get(formerId)?.ids;
    for (const [name, routerId] of former ?? []) if (routerId === id) former?.delete(name);
    this.duplicates.forget(formerId, id);
  }

  /** Entries of an agent's configuration that it does not manage, and why. Duplicates are known only while it is connected. */
  async unmanagedOf(teamId: string, agentId: string): Promise<UnmanagedRouter[]> {
    const claims = await this.moves.claimsOf(teamId, agentId);
    return describeUnmanaged(claims, await this.entriesOf(teamId, agentId), this.duplicates.reportsOf(agentId));
  }

  async onReady(connection: AgentConnection): Promise<void> {
    const before = this.#changesOfOwner;
    const { held, ids, records: read } = await this.#openings.of(connection);
    // A router that moved or was removed meanwhile may be among them: then what the agent reports decides.
    const records = this.#changesOfOwner === before ? read : [];
    this.#limits.begin(connection, held);
    this.#goneSince.delete(connection.agentId);
    const reports = noReports(connection, this.#deps.clock.monotonic(), { ids, records });
    this.#reports.set(connection.agentId, reports);
    this.duplicates.begin(connection, reports.ids);
  }

  onGone(connection: AgentConnection): void {
    this.#limits.end(connection.agentId);
    this.duplicates.end(connection.agentId);
    this.#reports.delete(connection.agentId);
    this.#goneSince.set(connection.agentId, this.#deps.clock.monotonic());
  }

  /** A heartbeat about a name without an inventory applies once the inventory identifies the router. */
  onHeartbeat(connection: AgentConnection, message: Heartbeat): void {
    const reports = this.#reports.get(connection.agentId);
    if (!reports) return;
    if (this.#deps.clock.monotonic() - reports.readySince > RECORDS_KEPT_MS) reports.records = new FewMap();
    const at = this.#deps.clock.now();
    for (const { name, reachable, uptime_seconds: uptimeSeconds, reason, reason_code: reasonCode = 'unknown' } of message.routers) {
      const heartbeat = { reachable, uptimeSeconds, reason, reasonCode, at, from: connection.address };
      if (reports.heartbeats.has(name) || reports.heartbeats.size < MAX_ROUTERS_PER_AGENT) reports.heartbeats.set(name, heartbeat);
      const routerId = reports.ids.get(name);
      if (routerId !== undefined) this.presence.record(routerId, heartbeat);
    }
  }

  /**
   * Identifies a router. Says nothing about whether it answers: an agent may send an inventory from memory.
   * @returns undefined for a router that belongs to another agent of the team or to another entry of this one, and for one
   *   whose ids contain characters other than ASCII: `entriesOf` gives the reason
   * @throws AppError `quota_exceeded` when the agent or its team has reached its limit of routers
   */
  async onInventory(connection: AgentConnection, inventory: Inventory): Promise<RouterRecord | undefined> {
    await this.#limits.check(connection, inventory, readRecord(this.#reports.get(connection.agentId), inventory) !== undefined);
    const now = this.#deps.clock.now();
    const id = newId(now);
    const { teamId, agentId, address } = connection;
    const sighting = { newId: id, teamId, agentId, agentEntry: inventory.router, address, facts: inventory.facts, now };
    const problem = deviceProblem(inventory.facts);
    if (problem !== undefined) return this.#refuse(connection, inventory, sighting, problem);
    const stored = this.#takeRecord(connection, inventory);
    if (stored) {
      this.#limits.count(connection, inventory.router, false);
      this.#identify(connection, inventory.router, stored.id);
      this.duplicates.report(agentId, inventory, null);
      return stored;
    }
    const { router, duplicateOf, changes } = await this.#sightings.store(sighting);
    this.#limits.count(connection, inventory.router, router?.id === id);
    if (router) this.#identify(connection, inventory.router, router.id);
    else this.#reports.get(connection.agentId)?.ids.delete(inventory.router);
    this.duplicates.report(connection.agentId, inventory, duplicateOf?.id ?? null);
    this.moves.publish(changes);
    return router;
  }

  /** The record of a router of which this inventory says what is stored. */
  #takeRecord({ agentId }: AgentConnection, inventory: Inventory): RouterRecord | undefined {
    const reports = this.#reports.get(agentId);
    const record = readRecord(reports, inventory);
    reports?.records.delete(inventory.router);
    return record && isAsStored(record, inventory.facts) ? record : undefined;
  }

  /** The device under this name cannot be identified: its entry shows the reason instead. */
  async #refuse(connection: AgentConnection, inventory: Inventory, sighting: Sighting, problem: string): Promise<undefined> {
    const { agentId, teamId } = connection;
    this.#deps.log.warn(
      { agent_id: agentId, team_id: teamId, reason: problem },
      'a router was rejected: its inventory does not identify it',
    );
    const changes = await this.#deps.storage.writes.write((tx) => this.moves.withdraw(tx, sighting));
    this.#limits.count(connection, inventory.router, false);
    this.#reports.get(agentId)?.ids.delete(inventory.router);
    this.duplicates.refuse(agentId, inventory, `inventory: ${problem}`);
    this.moves.publish(changes);
  }

  /** From now on the new agent reports the router, and no longer the former one. */
  #onMoveChange({ kind, router, agentId, ownerId }: MoveChange): void {
    if (kind !== 'moved') return;
    this.#changesOfOwner += 1;
    const former = this.#reports.get(ownerId)?.ids;
    for (const [name, id] of former ?? []) if (id === router.id) former?.delete(name);
    this.duplicates.forget(ownerId, router.id);
    const connection = this.#reports.get(agentId)?.connection;
    if (connection) this.#identify(connection, router.agent_router, router.id);
  }

  /** Why an agent that is not revoked may still have a router under this name; undefined when it certainly has not. */
  reasonStillHeld(agentId: string, name: string): string | undefined {
    if (name === '') return undefined;
    const held = this.#holding(agentId, name);
    if (held === 'away')
      return 'its agent is offline and may still have it: revoke the agent, or wait until it reconnects without this router';
    return held === 'held' ? "its agent still has it: remove it from the agent's configuration, or revoke the agent" : undefined;
  }

  /**
   * The router was removed or replaced: its name passes to its successor. Its agent may have reported the new hardware as the successor before
   * this is known here. Whoever has another name for the successor means the former hardware.
   */
  forget(routerId: string, successor?: Pick<RouterRecord, 'id' | 'agent_id' | 'agent_router'>): void {
    this.#changesOfOwner += 1;
    let isHeardAs = false;
    for (const [agentId, { ids }] of this.#reports) {
      for (const [name, id] of ids) {
        if (id !== routerId && id !== successor?.id) continue;
        const isItsName = successor !== undefined && agentId === successor.agent_id && name === successor.agent_router;
        isHeardAs ||= isItsName && id === successor.id;
        if (isItsName) ids.set(name, successor.id);
        else ids.delete(name);
      }
    }
    this.presence.forget(routerId, successor?.id, { isHeardAs });
  }

  #holding(agentId: string, name: string): 'held' | 'away' | 'dropped' {
    const reports = this.#reports.get(agentId);
    if (!reports) return this.isElsewhere(agentId) ? 'held' : 'away';
    // Every heartbeat names all routers of the agent; a new tunnel has not sent one yet.
    const isSilent = !reports.heartbeats.has(name) && this.#deps.clock.monotonic() - reports.readySince >= this.#deps.rules.offlineAfterMs;
    return isSilent ? 'dropped' : 'held';
  }

  #ownerOf({ agent_id: agentId, agent_router: name }: Pick<RouterRecord, 'agent_id' | 'agent_router'>): Omit<Owner, 'revoked'> {
    const { holders, clock } = this.#deps;
    // Another control plane sees what it reports: as long as its tunnel lives, it has the router.
    if (holders?.isElsewhere(agentId)) return { dropped: name === '', awayMs: 0 };
    const held = this.#holding(agentId, name);
    const goneSince = holders ? holders.lost(agentId)?.noticedAt : this.#goneSince.get(agentId);
    const awayMs = held === 'away' ? clock.monotonic() - (goneSince ?? this.#startedAt) : 0;
    return { dropped: name === '' || held === 'dropped', awayMs };
  }

  #identify(connection: AgentConnection, name: string, routerId: string): void {
    const { agentId } = connection;
    const reports = this.#reports.get(agentId) ?? noReports(connection, this.#deps.clock.monotonic());
    this.#reports.set(agentId, reports);
    const isNew = reports.ids.get(name) !== routerId;
    // Its former name there, when it was renamed in the configuration.
    for (const [other, id] of reports.ids) if (id === routerId && other !== name) reports.ids.delete(other);
    reports.ids.set(name, routerId);
    const heartbeat = reports.heartbeats.get(name);
    if (isNew && heartbeat) this.presence.record(routerId, heartbeat);
  }
}
