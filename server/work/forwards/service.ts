import type { ChannelSocket } from '../../../protocol/index.ts';
import type { AgentConnection, AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError, notFound } from '../../platform/core/errors.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Found, ListPage } from '../../platform/core/list-page.ts';
import type { Page } from '../../platform/core/page.ts';
import { findForwards, findOpenForwards } from './list/store.ts';
import type { ForwardFilter } from './list/types.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import { ClosedTraffic } from './connections/traffic.ts';
import { ConnectionLog } from './connections/log.ts';
import { ConnectionSweep } from './connections/sweep.ts';
import { listConnections } from './connections/list.ts';
import type { LoggedConnection } from './connections/store.ts';
import { storeNewForward, unusedPorts } from './creation.ts';
import type { PortsUse } from './creation.ts';
import type { TeamTraffic } from './measures.ts';
import { ForwardEntries } from './entry/forward-entries.ts';
import { FORWARD_LIMITS } from './limits.ts';
import type { ForwardLimits } from './limits.ts';
import { LiveForward } from './live-forward.ts';
import type { LiveTerms } from './live-forward.ts';
import { LiveForwards } from './live-forwards.ts';
import { normaliseSource } from './policy.ts';
import { selectForward, selectForwards, selectOpenForwards, updateTerms } from './store.ts';
import { endAllForwards, endForward, loseWay } from './transitions.ts';
import type {
  ChannelGrant,
  ConnectionAcceptor,
  ForwardChange,
  ForwardMaker,
  ForwardRecord,
  ForwardRequest,
  ForwardSettings,
  ForwardTerms,
  ForwardView,
  ListedConnection,
} from './types.ts';
import { WayOpener, newChannelToken } from './way-opener.ts';

export interface ForwardsDeps {
  storage: Storage;
  routers: Pick<RoutersService, 'getRouter'>;
  gateway: AgentGateway;
  clock: Clock;
  log: Log;
  settings: ForwardSettings;
  limits?: ForwardLimits;
  counters?: Counters;
  /** How far statements for agents are apart when many connect (AGENTS_APART_MS); 0 unless given. */
  agentsApartMs?: number;
}

/** Transient forwards: created, opened at the agent, expired or revoked, and restored after a restart. */
export class ForwardsService {
  /** Every change of a forward's record that this process makes. */
  readonly changes = new Listeners<ForwardChange>();
  /** Usage of the port range. */
  readonly portsUse: PortsUse;
  readonly #deps: ForwardsDeps & { limits: ForwardLimits; portsUse: PortsUse };
  readonly #live = new LiveForwards();
  readonly #ways: WayOpener;
  readonly #entries: ForwardEntries;
  readonly #connectionLog: ConnectionLog;
  readonly #traffic = new ClosedTraffic();
  readonly #sweep: ConnectionSweep;
  /** Background work: no request waits for it, `stop` does. */
  readonly #tasks = new Set<Promise<void>>();
  #stopping = false;

  constructor(deps: ForwardsDeps) {
    const limits = deps.limits ?? FORWARD_LIMITS;
    this.portsUse = unusedPorts(deps.settings, limits);
    this.#deps = { ...deps, limits, portsUse: this.portsUse };
    this.#ways = new WayOpener({ ...this.#deps, changes: this.changes, reopen: (live) => this.#reopen(live) });
    const open = (): LoggedConnection[] => this.#live.all().flatMap((live) => live.openConnections());
    this.#connectionLog = new ConnectionLog({ ...deps, flushMs: this.#deps.limits.flushMs, open });
    this.#sweep = new ConnectionSweep(this.#deps);
    this.#entries = new ForwardEntries({
      ...this.#deps,
      changes: this.changes,
      reopen: (live) => this.#reopen(live),
      track: (work) => void this.#track(work),
    });
  }

  /** Opens the ports of forwards that were open when the server stopped, and ends those that have expired. */
  async start(): Promise<void> {
    await this.#entries.check();
    this.#sweep.start();
    await this.#connectionLog.start();
    const now = this.#deps.clock.now();
    for (const record of await selectOpenForwards(this.#deps.storage.db)) {
      const live = this.#makeLive(record);
      if (record.expires_at <= now) await this.#end(live, 'expired');
      else await this.#restore(live, record);
    }
    await this.#entries.start((id) => this.#live.get(id));
  }

  /** Closes every port and connection; the records stay open for the next start. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#entries.stop();
    for (const live of this.#live.all()) live.cancelRetry();
    await Promise.all(this.#live.all().map((live) => live.end('shutdown')));
    this.#live.clear();
    await Promise.all(this.#tasks);
    await this.#ways.stop();
    await this.#sweep.stop();
    await this.#connectionLog.stop();
  }

  /** Traffic of every team since the start of this process. */
  traffic(): ReadonlyMap<string, TeamTraffic> {
    return this.#traffic.with(
      this.#live
        .all()
        .map(({ teamId, connectionCount: count, openBytes }) => ({ teamId, count, bytesIn: openBytes.in, bytesOut: openBytes.out })),
    );
  }

  /**
   * Stores the forward, opens its port and waits briefly for the agent. A repeated request returns the first forward.
   * @throws AppError `not_found`, `invalid`, `conflict`, `unavailable`
   */
  async create(teamId: string, routerId: string, maker: ForwardMaker, request: ForwardRequest): Promise<ForwardView> {
    await this.#deps.routers.getRouter(teamId, routerId);
    // A placeholder that no agent knows; it is replaced when the agent is asked.
    const { hash } = newChannelToken(routerId);
    const { record, isNew } = await storeNewForward(this.#deps, { teamId, routerId, maker, channelTokenHash: hash, request });
    if (!isNew) return this.get(teamId, routerId, record.id);
    const live = this.#makeLive(record);
    try {
      const port = await this.#listen(live, record);
      // The router may have been removed while the port was being opened.
      if ((await this.get(teamId, routerId, record.id)).record.closed_at !== null) throw notFound('router');
      this.changes.publish({ kind: 'created', forward: { ...record, port } });
    } catch (error) {
      await this.#end(live, 'revoked');
      throw error;
    }
    await this.#waitBriefly(this.#track(this.#ways.open(live, record)));
    return this.get(teamId, routerId, record.id);
  }

  /**
   * Changes until when the forward is open, or for whom: connections from a source that is no longer allowed end. Waits briefly for
   * the agent and the router, which get the new end.
   * @throws AppError `not_found`, `invalid` naming the field, `conflict` when the forward has ended
   */
  async change(teamId: string, routerId: string, id: string, terms: ForwardTerms): Promise<ForwardView> {
    await this.get(teamId, routerId, id);
    const live = this.#live.get(id);
    if (!live) throw hasEnded();
    const record = await live.changeInTurn(() => this.#storeTerms(live, terms));
    this.changes.publish({ kind: 'updated', forward: record });
    if (terms.expireAfterMinutes !== undefined) await this.#waitBriefly(this.#track(this.#ways.open(live, record)));
    return this.get(teamId, routerId, id);
  }

  /** The terms hold once they are stored, not before: a control plane that is killed meanwhile goes by the record. */
  async #storeTerms(live: LiveForward, { expireAfterMinutes, allowFrom }: ForwardTerms): Promise<ForwardRecord> {
    const { storage, clock, settings } = this.#deps;
    const now = clock.now();
    const time = expireAfterMinutes === undefined ? {} : { expires_at: now + expireAfterMinutes * 60_000, renewed_at: now };
    const source =
      allowFrom === undefined ? {} : { allow_only_cidr: normaliseSource(allowFrom, { allowPrivate: settings.allowPrivateSources }) };
    const key = { teamId: live.teamId, id: live.id };
    const record = live.ended ? undefined : await storage.writes.write((tx) => updateTerms(tx, key, now, { ...time, ...source }));
    // Its time may have come meanwhile.
    if (!record || live.ended) throw hasEnded();
    live.applyTerms(termsOf(record));
    return record;
  }

  /** @throws AppError `not_found` */
  async get(teamId: string, routerId: string, id: string): Promise<ForwardView> {
    const record = await selectForward(this.#deps.storage.db, { teamId, id }, routerId);
    if (!record) throw notFound('forward');
    return this.#view(record);
  }

  /**
   * For connections that do not use the entry port. Refusals are counted like those of the entry port.
   * @throws AppError `not_found`, `conflict` when the forward has ended or is full
   */
  async acceptor(teamId: string, routerId: string, id: string, source: string): Promise<ConnectionAcceptor> {
    await this.get(teamId, routerId, id);
    const live = this.#live.get(id);
    if (!live || live.ended) throw hasEnded();
    if (live.full) {
      live.refused(source);
      throw new AppError('conflict', 'the forward has as many connections as it can carry');
    }
    return live;
  }

  /** Newest first. @throws AppError `not_found` for an unknown router */
  async list(teamId: string, routerId: string, page: Page): Promise<ForwardView[]> {
    await this.#deps.routers.getRouter(teamId, routerId, { orRemoved: true });
    const records = await selectForwards(this.#deps.storage.db, teamId, routerId, page);
    return records.map((record) => this.#view(record));
  }

  /** Those of these forwards of a team that are open, as they are now. */
  async open(teamId: string, ids: readonly string[]): Promise<ForwardView[]> {
    return (await findOpenForwards(this.#deps.storage.db, teamId, ids)).map((record) => this.#view(record));
  }

  /** One page of the forwards of a team that match. */
  async listTeam(teamId: string, filter: ForwardFilter, page: ListPage, wantsTotal: boolean): Promise<Found<ForwardView>> {
    const { rows, total } = await findForwards(this.#deps.storage.db, teamId, filter, page, wantsTotal);
    return { rows: rows.map((record) => this.#view(record)), total };
  }

  /** Open and finished connections, newest first. @throws AppError `not_found` */
  async connections(teamId: string, routerId: string, id: string, page: Page): Promise<ListedConnection[]> {
    await this.get(teamId, routerId, id);
    await this.#connectionLog.flush();
    return listConnections(this.#deps.storage.db, { teamId, id }, page, this.#live.get(id)?.openConnections() ?? []);
  }

  /** Closes the port and cuts its connections. For an ended forward, only its agent is notified again. @throws AppError `not_found` */
  async revoke(teamId: string, routerId: string, id: string): Promise<void> {
    const { record } = await this.get(teamId, routerId, id);
    const live = this.#live.get(id) ?? this.#makeLive(record);
    if (live.agentId === '') live.assignAgent((await this.#deps.routers.getRouter(teamId, routerId, { orRemoved: true })).agent_id);
    await this.#end(live, 'revoked');
  }

  /** Stores the end of all forwards of these routers inside a write; then {@link cut} them. */
  closeAllOf(tx: Tx, teamId: string, routerIds: readonly string[]): Promise<ForwardRecord[]> {
    return endAllForwards(tx, teamId, routerIds, this.#deps.clock.now());
  }

  /** Cuts forwards whose end is stored: closes their ports and connections and notifies their agents. Never rejects. */
  async cut(forwards: readonly ForwardRecord[]): Promise<void> {
    for (const forward of forwards) this.changes.publish({ kind: 'closed', forward });
    const lives = forwards.map(({ id }) => this.#live.get(id)).filter((live) => live !== undefined);
    await Promise.all(lives.map((live) => this.#track(this.#end(live, 'revoked'), 'the end of a forward could not be stored')));
  }

  /** Checks the bearer of a channel dial. */
  authorizeChannel(bearer: string): ChannelGrant | undefined {
    const live = this.#live.get(bearer.split(':', 1)[0]!);
    if (!live || live.ended || !live.acceptsToken(bearer)) return undefined;
    return { forwardId: live.id, agentId: live.agentId, teamId: live.teamId };
  }

  /** Adds a channel. Call it in the same turn of the event loop in which the WebSocket is opened. */
  onChannel(grant: ChannelGrant, socket: ChannelSocket): void {
    const live = this.#live.get(grant.forwardId);
    // The forward may have moved to another agent since the token was checked.
    if (live && !live.ended && live.agentId === grant.agentId) live.addChannel(socket);
    else socket.terminate();
  }

  /** The agent is revoked or replaced: cuts its channels of the team's forwards and refuses new ones. @throws a storage error */
  async dropAgent(teamId: string, agentId: string, why = 'the agent was revoked'): Promise<void> {
    const lives = this.#live.ofAgent(agentId).filter((live) => live.teamId === teamId && !live.ended);
    await Promise.all(lives.map((live) => this.#ways.detachAgent(live, why)));
  }

  /** The agent is online again: opens all its forwards, and closes those that ended while it was offline. */
  onReady(connection: AgentConnection): void {
    void this.#track(this.#ways.closeEnded(connection), 'an agent could not be notified of the forwards that have ended');
    for (const live of this.#live.ofAgent(connection.agentId)) {
      if (live.wasRequestedOn(connection)) continue;
      // The old line may be dead: a connection on such a channel would wait until that is noticed.
      live.dropFreeChannels('the agent has a new tunnel');
      this.#reopen(live);
    }
  }

  /** The agent reports this router, perhaps for the first time. */
  onRouterSeen(connection: AgentConnection, routerId: string): void {
    for (const live of this.#live.ofRouter(routerId)) {
      if (live.teamId === connection.teamId && !live.wasRequestedOn(connection)) this.#reopen(live);
    }
  }

  /** The agent lost the way to the target; it is asked to find another. */
  onForwardLost(connection: AgentConnection, forwardId: string, reason: string): void {
    const live = this.#live.get(forwardId);
    // Only the first report after each request: an agent that repeats it endlessly must not cause a write each time.
    if (!live?.markLost(connection.agentId)) return;
    const key = { teamId: live.teamId, id: forwardId };
    void this.#track(
      this.#deps.storage.writes
        .write((tx) => loseWay(tx, key, reason, this.#deps.clock.now()))
        .then((lost) => {
          if (lost) this.changes.publish({ kind: 'lost', forward: lost });
        }),
      'a lost way could not be stored',
    );
    // At once, unless the last way was lost soon after it was found.
    const { retryMs } = this.#deps.limits;
    live.retryIn(Math.min(retryMs, Math.max(0, retryMs - live.sinceRequestMs)), () => this.#reopen(live));
  }

  #view(record: ForwardRecord): ForwardView {
    const unwritten = this.#connectionLog.unwritten(record.id);
    const live = this.#live.get(record.id);
    const openBytes = live?.openBytes;
    const openConnections = live?.connectionCount ?? 0;
    return {
      record: { ...record, refused_attempts: record.refused_attempts + unwritten.refused },
      openConnections,
      connectionCount: record.connection_count + unwritten.connections + openConnections,
      bytesIn: record.bytes_in + unwritten.bytesIn + (openBytes?.in ?? 0),
      bytesOut: record.bytes_out + unwritten.bytesOut + (openBytes?.out ?? 0),
      maxConnections: record.max_connections ?? this.#deps.limits.connections,
      entryName: this.#entries.nameOf(record.id),
    };
  }

  #makeLive(record: ForwardRecord): LiveForward {
    const { clock, limits, gateway } = this.#deps;
    const key = { teamId: record.team_id, id: record.id };
    const live: LiveForward = new LiveForward({
      id: record.id,
      teamId: record.team_id,
      routerId: record.router_id,
      terms: termsOf(record),
      maxConnections: record.max_connections ?? limits.connections,
      tokenHash: record.channel_token_hash,
      idleMs: record.idle_seconds === null ? null : record.idle_seconds * 1000,
      clock,
      limits,
      dial: (count) => gateway.notify(live.agentId, { type: 'channel.dial', forward_id: record.id, count }),
      onAgentChanged: (former) => this.#live.agentChanged(live, former),
      onConnectionClosed: (summary) => {
        this.#connectionLog.connectionClosed(key, summary);
        this.#traffic.connectionClosed(key.teamId, summary);
      },
      onRefused: (source) => {
        this.#connectionLog.refused(key, source);
        this.#traffic.refused(key.teamId);
      },
      onExpired: () => this.#endLater(live, 'expired'),
    });
    return live;
  }

  /** Opens the port of a new forward. @returns the port */
  async #listen(live: LiveForward, record: ForwardRecord): Promise<number> {
    const port = await this.#entries.open(live, record);
    this.#live.add(live);
    live.startExpiry();
    return port;
  }

  async #restore(live: LiveForward, record: ForwardRecord): Promise<void> {
    this.#live.add(live);
    live.startExpiry();
    await this.#entries.reopen(live, record);
    void this.#track(this.#ways.open(live, record));
  }

  /** Keeps the forward in memory until its end is stored, so that storing it can be retried. @throws a storage error */
  async #end(live: LiveForward, how: 'expired' | 'revoked'): Promise<void> {
    if (live.ended && !this.#live.get(live.id)) return;
    this.#live.add(live);
    live.cancelRetry();
    await live.end(how);
    const { storage, clock, limits } = this.#deps;
    try {
      const closed = await storage.writes.write((tx) => endForward(tx, { teamId: live.teamId, id: live.id }, clock.now(), how));
      this.#live.delete(live.id);
      if (closed) this.changes.publish({ kind: 'closed', forward: closed });
    } catch (error) {
      if (!this.#stopping) live.retryIn(limits.retryMs, () => this.#endLater(live, how));
      throw error;
    } finally {
      void this.#track(this.#ways.close(live));
    }
  }

  #endLater(live: LiveForward, how: 'expired' | 'revoked'): void {
    if (!this.#stopping) void this.#track(this.#end(live, how), 'the end of a forward could not be stored');
  }

  #reopen(live: LiveForward): void {
    if (live.ended || this.#stopping) return;
    void this.#track(
      (async () => {
        const key = { teamId: live.teamId, id: live.id };
        const record = await selectForward(this.#deps.storage.db, key, live.routerId);
        if (record && record.closed_at === null && !live.ended) await this.#ways.open(live, record);
      })(),
      'a forward could not be opened again',
    );
  }

  /** Tracks background work so that `stop` waits for it. The returned promise never rejects. */
  #track(work: Promise<void>, whatFailed = 'a task of the forwards failed'): Promise<void> {
    const task = work.catch((error: unknown) => this.#deps.log.error({ err: error }, whatFailed)).finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
    return task;
  }

  #waitBriefly(work: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#deps.clock.setTimeout(resolve, this.#deps.limits.createWaitMs);
      void work.finally(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

function hasEnded(): AppError {
  return new AppError('conflict', 'the forward has ended');
}

function termsOf(record: ForwardRecord): LiveTerms {
  return { expiresAt: record.expires_at, setAt: record.renewed_at ?? record.created_at, allowOnlyCidr: record.allow_only_cidr };
}
