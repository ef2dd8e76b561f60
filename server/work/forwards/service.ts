import type { ChannelSocket } from '../../../protocol/index.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import { AppError, notFound } from '../../platform/core/errors.ts';
import type { Listeners } from '../../platform/core/listeners.ts';
import type { Found, ListPage } from '../../platform/core/list-page.ts';
import type { Page } from '../../platform/core/page.ts';
import type { Tx } from '../../platform/storage/db.ts';
import type { Several } from './cluster/several.ts';
import { listConnections } from './connections/list.ts';
import type { PortsUse } from './creation.ts';
import type { ForwardsDeps } from './deps.ts';
import { ForwardHome } from './forward-home.ts';
import { findForwards, findOpenForwards } from './list/store.ts';
import type { ForwardFilter } from './list/types.ts';
import type { TeamTraffic } from './measures.ts';
import { selectForward, selectForwards } from './store.ts';
import { endAllForwards } from './transitions.ts';
import type {
  Carried,
  ChannelGrant,
  ConnectionAcceptor,
  ForwardChange,
  ForwardMaker,
  ForwardRecord,
  ForwardRequest,
  ForwardTerms,
  ForwardView,
  ListedConnection,
} from './types.ts';

/** Transient forwards: created, opened at the agent, expired or revoked, and restored after a restart. */
export class ForwardsService {
  readonly #deps: ForwardsDeps;
  /** Of the forwards that live here. */
  readonly #home: ForwardHome;
  readonly #several: Several | undefined;

  constructor(deps: ForwardsDeps) {
    this.#deps = deps;
    this.#home = new ForwardHome(deps);
    this.#several = this.#home.several;
  }

  /** Every change of a forward's record that this process makes. */
  get changes(): Listeners<ForwardChange> {
    return this.#home.changes;
  }

  /** Usage of the port range. */
  get portsUse(): PortsUse {
    return this.#home.portsUse;
  }

  /** Opens the ports of forwards that were open when the server stopped, and ends those that have expired. */
  start(): Promise<void> {
    return this.#home.start();
  }

  /** Closes every port and connection; the records stay open for the next start. */
  stop(): Promise<void> {
    return this.#home.stop();
  }

  /** Connections that this process carries now. */
  get openConnections(): number {
    return this.#home.carrying().reduce((sum, { connectionCount }) => sum + connectionCount, 0);
  }

  /** Traffic of every team since the start of this process. */
  traffic(): ReadonlyMap<string, TeamTraffic> {
    return this.#home.traffic.with(
      this.#home
        .carrying()
        .map(({ teamId, connectionCount: count, openBytes }) => ({ teamId, count, bytesIn: openBytes.in, bytesOut: openBytes.out })),
    );
  }

  /**
   * Stores the forward, opens its port and waits briefly for the agent. A repeated request returns the first forward.
   * @throws AppError `not_found`, `invalid`, `conflict`, `unavailable`
   */
  async create(teamId: string, routerId: string, maker: ForwardMaker, request: ForwardRequest): Promise<ForwardView> {
    await this.#deps.routers.getRouter(teamId, routerId);
    const elsewhere = await this.#several?.elsewhere.create(teamId, routerId, maker, request);
    const id = elsewhere ?? (await this.#home.create(teamId, routerId, maker, request)).id;
    return this.get(teamId, routerId, id);
  }

  /**
   * Changes until when the forward is open, or for whom: connections from a source that is no longer allowed end. Waits briefly for
   * the agent and the router, which get the new end.
   * @throws AppError `not_found`, `invalid` naming the field, `conflict` when the forward has ended
   */
  async change(teamId: string, routerId: string, id: string, terms: ForwardTerms): Promise<ForwardView> {
    const record = await this.#record(teamId, routerId, id);
    const live = this.#home.live.get(id);
    if (live) await this.#home.change(live, terms);
    else if (this.#several) await this.#several.elsewhere.change(record, terms);
    else throw hasEnded();
    return this.get(teamId, routerId, id);
  }

  /** @throws AppError `not_found` */
  async get(teamId: string, routerId: string, id: string): Promise<ForwardView> {
    const [view] = await this.#views([await this.#record(teamId, routerId, id)]);
    return view!;
  }

  /** Without what control planes carry of it, which may take a second to hear. @throws AppError `not_found` */
  async #record(teamId: string, routerId: string, id: string): Promise<ForwardRecord> {
    const record = await selectForward(this.#deps.storage.db, { teamId, id }, routerId);
    if (!record) throw notFound('forward');
    return record;
  }

  /**
   * For connections that do not use the entry port. Refusals are counted like those of the entry port.
   * @throws AppError `not_found`, `conflict` when the forward has ended or is full
   */
  async acceptor(teamId: string, routerId: string, id: string, source: string): Promise<ConnectionAcceptor> {
    const record = await this.#record(teamId, routerId, id);
    const live = this.#home.live.get(id);
    if (!live && this.#several && record.closed_at === null) return this.#several.homes.enter(record, source);
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
    return this.#views(records);
  }

  /** Those of these forwards of a team that are open, as they are now. */
  async open(teamId: string, ids: readonly string[]): Promise<ForwardView[]> {
    return this.#views(await findOpenForwards(this.#deps.storage.db, teamId, ids));
  }

  /** One page of the forwards of a team that match. */
  async listTeam(teamId: string, filter: ForwardFilter, page: ListPage, wantsTotal: boolean): Promise<Found<ForwardView>> {
    const { rows, total } = await findForwards(this.#deps.storage.db, teamId, filter, page, wantsTotal);
    return { rows: await this.#views(rows), total };
  }

  /** Open and finished connections, newest first. @throws AppError `not_found` */
  async connections(teamId: string, routerId: string, id: string, page: Page): Promise<ListedConnection[]> {
    await this.#record(teamId, routerId, id);
    await this.#home.connectionLog.flush();
    return listConnections(
      this.#deps.storage.db,
      { teamId, id },
      page,
      this.#home.carriersOf(id).flatMap((live) => live.openConnections()),
    );
  }

  /**
   * Closes the port and cuts its connections. For an ended forward, only its agent is notified again.
   * @returns its record of before
   * @throws AppError `not_found`
   */
  async revoke(teamId: string, routerId: string, id: string): Promise<ForwardRecord> {
    const record = await this.#record(teamId, routerId, id);
    const home = this.#home;
    if (this.#several && !home.live.get(id)) {
      await this.#several.elsewhere.revoke(record);
      return record;
    }
    const live = home.live.get(id) ?? home.makeLive(record);
    if (live.agentId === '') live.assignAgent(await home.agentOf(record));
    await home.end(live, 'revoked');
    return record;
  }

  /** Stores the end of all forwards of these routers inside a write; then {@link cut} them. */
  closeAllOf(tx: Tx, teamId: string, routerIds: readonly string[]): Promise<ForwardRecord[]> {
    return endAllForwards(tx, teamId, routerIds, this.#deps.clock.now());
  }

  /** Cuts forwards whose end is stored: closes their ports and connections and notifies their agents. Never rejects. */
  async cut(forwards: readonly ForwardRecord[]): Promise<void> {
    for (const forward of forwards) this.changes.publish({ kind: 'closed', forward });
    await Promise.all(forwards.map((forward) => this.#home.track(this.#cut(forward), 'the end of a forward could not be stored')));
  }

  async #cut(forward: ForwardRecord): Promise<void> {
    const live = this.#home.live.get(forward.id);
    if (live) await this.#home.end(live, 'revoked');
    else await this.#several?.elsewhere.revoke(forward);
  }

  /** Checks the bearer of a channel dial. */
  authorizeChannel(bearer: string): ChannelGrant | undefined {
    const live = this.#home.carriersOf(bearer.split(':', 1)[0]!).find((one) => !one.ended && one.acceptsToken(bearer));
    if (!live) return undefined;
    return { forwardId: live.id, agentId: live.agentId, teamId: live.teamId, isDoor: live !== this.#home.live.get(live.id) };
  }

  /** Adds a channel. Call it in the same turn of the event loop in which the WebSocket is opened. */
  onChannel(grant: ChannelGrant, socket: ChannelSocket): void {
    const live = grant.isDoor ? this.#several?.doors.get(grant.forwardId) : this.#home.live.get(grant.forwardId);
    // The forward may have moved to another agent since the token was checked.
    if (live && !live.ended && live.agentId === grant.agentId) live.addChannel(socket);
    else socket.terminate();
  }

  /** The agent is revoked or replaced: cuts its channels of the team's forwards and refuses new ones. @throws a storage error */
  async dropAgent(teamId: string, agentId: string, why = 'the agent was revoked'): Promise<void> {
    this.#several?.others.agentDropped(teamId, agentId, why);
    await this.#several?.homes.dropDoorsOf(teamId, agentId);
    await this.#home.dropAgent(teamId, agentId, why);
  }

  /** The agent is online again: opens all its forwards, and closes those that ended while it was offline. */
  onReady(connection: AgentConnection): void {
    const { ways, live: own } = this.#home;
    void this.#home.track(ways.closeEnded(connection), 'an agent could not be notified of the forwards that have ended');
    if (this.#several) {
      this.#several.others.agentReady(connection);
      for (const door of this.#several.doors.ofAgent(connection.agentId)) door.dropFreeChannels('the agent has a new tunnel');
    }
    for (const live of own.ofAgent(connection.agentId)) {
      if (live.wasRequestedOn(connection)) continue;
      // The old line may be dead: a connection on such a channel would wait until that is noticed.
      live.dropFreeChannels('the agent has a new tunnel');
      this.#home.reopen(live);
    }
  }

  /** The agent reports this router, perhaps for the first time. */
  onRouterSeen(connection: AgentConnection, routerId: string): void {
    for (const live of this.#home.live.ofRouter(routerId)) {
      if (live.teamId === connection.teamId && !live.wasRequestedOn(connection)) this.#home.reopen(live);
    }
  }

  /** The agent lost the way to the target; it is asked to find another. */
  onForwardLost({ teamId, agentId }: AgentConnection, forwardId: string, reason: string): void {
    if (!this.#several || this.#home.live.get(forwardId)) {
      this.#home.onLost(agentId, forwardId, reason);
      return;
    }
    const told = this.#several.elsewhere.tellLost({ teamId, id: forwardId }, agentId, reason);
    void this.#home.track(told, 'a lost way could not be told to the home of a forward');
  }

  /** Of several control planes, with what the others carry. */
  async #views(records: readonly ForwardRecord[]): Promise<ForwardView[]> {
    const open = records.filter(({ closed_at: at }) => at === null).map(({ id }) => id);
    const elsewhere = await this.#several?.others.carried(open);
    return records.map((record) => this.#view(record, elsewhere?.get(record.id) ?? []));
  }

  #view(record: ForwardRecord, elsewhere: readonly Carried[]): ForwardView {
    const carried = [this.#home.carriedOf(record.id), ...elsewhere];
    const sum = (figure: keyof Carried): number => carried.reduce((total, one) => total + one[figure], 0);
    // A door that does not answer now has told its home how many it carries; one of this control plane has, too.
    const own = this.#home.live.get(record.id);
    const openConnections = Math.max(sum('open'), own ? own.connectionCount + own.lentCount : 0);
    return {
      record: { ...record, refused_attempts: record.refused_attempts + sum('refused') },
      openConnections,
      connectionCount: record.connection_count + sum('connections') + openConnections,
      bytesIn: record.bytes_in + sum('bytesIn'),
      bytesOut: record.bytes_out + sum('bytesOut'),
      maxConnections: record.max_connections ?? this.#home.limits.connections,
      entryName: this.#home.entries.nameOf(record.id),
    };
  }
}

function hasEnded(): AppError {
  return new AppError('conflict', 'the forward has ended');
}
