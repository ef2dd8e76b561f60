import { AppError, notFound } from '../../platform/core/errors.ts';
import { isUuid } from '../../platform/core/ids.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import { within } from '../../platform/core/within.ts';
import type { Doors } from './cluster/doors.ts';
import { TOLD_MS } from './cluster/other-homes.ts';
import { joinOthers } from './cluster/several.ts';
import type { Several } from './cluster/several.ts';
import { selectRecord, selectTunnelEpoch } from './cluster/store.ts';
import type { OwnForwards } from './cluster/types.ts';
import { sumCarried } from './connections/carried.ts';
import { ConnectionLog } from './connections/log.ts';
import type { LoggedConnection } from './connections/store.ts';
import { ConnectionSweep } from './connections/sweep.ts';
import { ClosedTraffic } from './connections/traffic.ts';
import { adoptWithPort, storeNewForward, unusedPorts } from './creation.ts';
import type { PortsUse } from './creation.ts';
import type { ForwardsDeps } from './deps.ts';
import { ForwardEntries } from './entry/forward-entries.ts';
import { FORWARD_LIMITS } from './limits.ts';
import type { ForwardLimits } from './limits.ts';
import { LiveForward } from './live-forward.ts';
import { LiveForwards } from './live-forwards.ts';
import { normaliseSource } from './policy.ts';
import { selectForward, selectOpenForwards, updateTerms } from './store.ts';
import type { ForwardKey } from './store.ts';
import { termsOf } from './terms.ts';
import { endForward, loseWay } from './transitions.ts';
import type { Carried, ConnectionSummary, ForwardChange, ForwardMaker, ForwardRecord, ForwardRequest, ForwardTerms } from './types.ts';
import { WayOpener, newChannelToken } from './way-opener.ts';

/** How long a forward whose time has come may stay open while its record is read, milliseconds. */
const EXPIRY_READ_MS = 1000;

/** The forwards of which this process is the home: all of them, unless several control planes serve the database. */
export class ForwardHome implements OwnForwards {
  /** Every change of a forward's record that this process makes. */
  readonly changes = new Listeners<ForwardChange>();
  readonly portsUse: PortsUse;
  readonly live = new LiveForwards();
  readonly ways: WayOpener;
  readonly entries: ForwardEntries;
  readonly connectionLog: ConnectionLog;
  readonly traffic = new ClosedTraffic();
  /** Where several control planes serve the database. */
  readonly several: Several | undefined;
  readonly limits: ForwardLimits;
  readonly #deps: ForwardsDeps & { limits: ForwardLimits; portsUse: PortsUse; nodeId: string | undefined };
  readonly #sweep: ConnectionSweep;
  /** Background work: no request waits for it, `stop` does. */
  readonly #tasks = new Set<Promise<void>>();
  #stopping = false;
  #creating = 0;

  constructor(deps: ForwardsDeps) {
    this.limits = deps.limits ?? FORWARD_LIMITS;
    this.portsUse = unusedPorts(deps.settings, this.limits);
    this.#deps = { ...deps, limits: this.limits, portsUse: this.portsUse, nodeId: deps.cluster?.nodeId };
    const { changes } = this;
    const reopen = (live: LiveForward): void => this.reopen(live);
    this.several = deps.cluster ? joinOthers(deps.cluster, this, { ...this.#deps, host: deps.settings.host }) : undefined;
    const shared = this.several && {
      channelUrl: this.several.channelUrl,
      tunnelEpoch: (agentId: string) => selectTunnelEpoch(deps.storage.db, agentId),
      settle: (live: LiveForward) => this.several!.homes.settle(live.key),
    };
    this.ways = new WayOpener({ ...this.#deps, changes, reopen, shared });
    const open = (): LoggedConnection[] => this.carrying().flatMap((live) => live.openConnections());
    this.connectionLog = new ConnectionLog({ ...this.#deps, flushMs: this.limits.flushMs, open });
    this.#sweep = new ConnectionSweep(this.#deps);
    this.entries = new ForwardEntries({ ...this.#deps, changes, reopen, track: (work) => void this.track(work) });
  }

  /** Opens the ports of forwards that were open when the server stopped, and ends those that have expired. */
  async start(): Promise<void> {
    await this.entries.check();
    this.#sweep.start();
    await this.connectionLog.start();
    const { several } = this;
    if (several) await several.homes.start();
    else for (const record of await selectOpenForwards(this.#deps.storage.db)) await this.takeUp(record);
    await this.entries.start((id, address) => {
      const live = this.live.get(id);
      return live || !several || !isUuid(id) ? live : several.homes.findByName(id, address);
    });
  }

  /** Closes every port and connection; the records stay open for the next start. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.entries.stop();
    await this.several?.homes.stop();
    for (const live of this.live.all()) live.cancelRetry();
    await Promise.all(this.live.all().map((live) => live.end('shutdown')));
    this.live.clear();
    await Promise.all(this.#tasks);
    await this.ways.stop();
    await this.#sweep.stop();
    await this.connectionLog.stop();
  }

  isCreating(): boolean {
    return this.#creating > 0;
  }

  /**
   * Stores a forward of this home, opens its port and waits briefly for the agent. A repeated request returns the first forward.
   * @throws AppError `not_found`, `invalid`, `conflict`, `unavailable`
   */
  async create(teamId: string, routerId: string, maker: ForwardMaker, request: ForwardRequest): Promise<{ id: string }> {
    this.#creating += 1;
    let opened;
    try {
      opened = await this.#storeAndListen(teamId, routerId, maker, request);
    } finally {
      this.#creating -= 1;
    }
    const { record, live } = opened;
    if (live) await this.renew(live, record);
    return { id: record.id };
  }

  /** The terms hold once they are stored. Waits briefly for the agent and the router, which get a new end. @throws AppError `invalid`, `conflict` */
  async change(live: LiveForward, terms: ForwardTerms): Promise<void> {
    const record = await live.changeInTurn(() => this.#storeTerms(live, terms));
    this.changes.publish({ kind: 'updated', forward: record });
    await this.several?.others.changed(live.key, live.lentTo);
    if (terms.expireAfterMinutes !== undefined) await this.renew(live, record);
  }

  /** Keeps the forward in memory until its end is stored, so that storing it can be retried. @throws a storage error */
  async end(live: LiveForward, how: 'expired' | 'revoked'): Promise<void> {
    if (live.ended && !this.live.get(live.id)) return;
    this.live.add(live);
    live.cancelRetry();
    await live.end(how);
    const { storage, clock, limits } = this.#deps;
    try {
      const closed = await storage.writes.write((tx) => endForward(tx, { teamId: live.teamId, id: live.id }, clock.now(), how));
      this.live.delete(live.id);
      if (closed) this.changes.publish({ kind: 'closed', forward: closed });
      if (this.several) await within(this.several.others.changed(live.key, live.lentTo), TOLD_MS);
    } catch (error) {
      if (!this.#stopping) live.retryIn(limits.retryMs, () => this.#endLater(live, how));
      throw error;
    } finally {
      void this.track(this.ways.close(live));
    }
  }

  /** Asks the agent again, in the background. */
  reopen(live: LiveForward): void {
    if (live.ended || this.#stopping) return;
    void this.track(
      (async () => {
        const key = { teamId: live.teamId, id: live.id };
        const record = await selectForward(this.#deps.storage.db, key, live.routerId);
        if (record && record.closed_at === null && !live.ended) await this.ways.open(live, record);
        else if (record) await this.several?.homes.settle(key);
      })(),
      'a forward could not be opened again',
    );
  }

  /** Asks the agent to go by the new end, and waits briefly for it. */
  renew(live: LiveForward, record: ForwardRecord): Promise<void> {
    return this.#waitBriefly(this.track(this.ways.open(live, record)));
  }

  closeAtAgent(forward: { id: string; agentId: string }): void {
    void this.track(this.ways.close(forward));
  }

  /** The agent lost the way of a forward of this home; it is asked to find another. */
  onLost(agentId: string, forwardId: string, reason: string): void {
    const live = this.live.get(forwardId);
    // Only the first report after each request: an agent that repeats it endlessly must not cause a write each time.
    if (!live?.markLost(agentId)) return;
    const { key } = live;
    void this.track(
      this.#deps.storage.writes
        .write((tx) => loseWay(tx, key, reason, this.#deps.clock.now()))
        .then((lost) => {
          if (lost) this.changes.publish({ kind: 'lost', forward: lost });
        }),
      'a lost way could not be stored',
    );
    // At once, unless the last way was lost soon after it was found.
    const { retryMs } = this.#deps.limits;
    live.retryIn(Math.min(retryMs, Math.max(0, retryMs - live.sinceRequestMs)), () => this.reopen(live));
  }

  /** Cuts the agent's channels of the team's forwards of this home and refuses new ones. @throws a storage error, after cutting */
  async dropAgent(teamId: string, agentId: string, why: string): Promise<void> {
    const lives = this.live.ofAgent(agentId).filter((live) => live.teamId === teamId && !live.ended);
    await Promise.all(lives.map((live) => this.ways.detachAgent(live, why)));
  }

  /** Opens a forward again that was open when this process, or the one before it, stopped; or ends it when its time has passed. */
  async takeUp(record: ForwardRecord): Promise<void> {
    const live = this.makeLive(record);
    if (record.expires_at <= this.#deps.clock.now()) await this.end(live, 'expired');
    else await this.#restore(live, record);
  }

  /** Becomes the home of a forward without one, and opens its port here. @returns false when another control plane was faster */
  async adopt(record: ForwardRecord): Promise<boolean> {
    const { nodeId } = this.#deps;
    const adopted = nodeId === undefined ? undefined : await adoptWithPort({ ...this.#deps, nodeId }, record);
    if (!adopted) return false;
    const live = this.makeLive(adopted);
    if (adopted.expires_at <= this.#deps.clock.now()) {
      await this.end(live, 'expired');
      return true;
    }
    this.live.add(live);
    live.startExpiry();
    const port = await this.entries.adopt(live, adopted);
    this.changes.publish({ kind: 'moved', forward: { ...adopted, port } });
    void this.track(this.ways.open(live, adopted));
    return true;
  }

  /** Ends what control planes that were killed left open in the log of connections. @throws a storage error */
  settleConnections(): Promise<void> {
    return this.connectionLog.settle();
  }

  async agentOf({ team_id: teamId, router_id: routerId }: ForwardRecord): Promise<string> {
    return (await this.#deps.routers.getRouter(teamId, routerId, { orRemoved: true })).agent_id;
  }

  /** Counts a client that was not let in. */
  refused(key: ForwardKey, source: string): void {
    this.connectionLog.refused(key, source);
    this.traffic.refused(key.teamId);
  }

  /** What carries connections here: forwards of this home, and doors to those of others. */
  carrying(): LiveForward[] {
    return this.several ? [...this.live.all(), ...this.several.doors.all()] : this.live.all();
  }

  carriersOf(id: string): LiveForward[] {
    return [this.live.get(id), this.several?.doors.get(id)].filter((live) => live !== undefined);
  }

  readonly carriedOf = (id: string): Carried => sumCarried(this.connectionLog.unwritten(id), this.carriersOf(id));

  makeLive(record: ForwardRecord): LiveForward {
    const { limits, gateway } = this.#deps;
    const live: LiveForward = new LiveForward({
      ...this.#liveOptions(record),
      nodeId: this.#deps.nodeId,
      maxConnections: record.max_connections ?? limits.connections,
      tokenHash: record.channel_token_hash,
      dial: (count) => gateway.notify(live.agentId, { type: 'channel.dial', forward_id: record.id, count }),
      onAgentChanged: (former) => this.live.agentChanged(live, former),
      onExpired: () => (this.several ? this.#expireLater(live) : this.#endLater(live, 'expired')),
    });
    return live;
  }

  /** For clients of a forward whose home is another control plane: the agent dials channels here in addition. */
  makeDoor(record: ForwardRecord, { doors, channelUrl }: { doors: Doors; channelUrl: string }, closed: () => void): LiveForward {
    const { token, hash } = newChannelToken(record.id);
    const dial = { type: 'channel.dial' as const, forward_id: record.id, channel_url: channelUrl, channel_token: token };
    const options = this.#liveOptions(record);
    const live: LiveForward = new LiveForward({
      ...options,
      // Its home counts.
      maxConnections: Infinity,
      tokenHash: hash,
      dial: (count) => this.#deps.gateway.notify(live.agentId, { ...dial, count }),
      onAgentChanged: (former) => doors.agentChanged(live, former),
      onConnectionClosed: (summary) => {
        options.onConnectionClosed(summary);
        closed();
      },
      onExpired: () => {
        const expire = async (): Promise<void> => {
          if (!(await this.#hasMoreTime(live))) await doors.close(record.id, 'expired');
        };
        void this.track(expire(), 'a door to a forward could not be closed');
      },
    });
    return live;
  }

  /** Tracks background work so that `stop` waits for it. The returned promise never rejects. */
  track(work: Promise<void>, whatFailed = 'a task of the forwards failed'): Promise<void> {
    const task = work.catch((error: unknown) => this.#deps.log.error({ err: error }, whatFailed)).finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
    return task;
  }

  /** @returns no live forward for a request that was repeated */
  async #storeAndListen(
    teamId: string,
    routerId: string,
    maker: ForwardMaker,
    request: ForwardRequest,
  ): Promise<{ record: ForwardRecord; live?: LiveForward }> {
    // A placeholder that no agent knows; it is replaced when the agent is asked.
    const { hash } = newChannelToken(routerId);
    const { record, isNew } = await storeNewForward(this.#deps, { teamId, routerId, maker, channelTokenHash: hash, request });
    if (!isNew) return { record };
    const live = this.makeLive(record);
    try {
      const port = await this.#listen(live, record);
      // The router may have been removed while the port was being opened.
      const present = await selectForward(this.#deps.storage.db, live.key, routerId);
      if (present?.closed_at !== null) throw notFound('router');
      this.changes.publish({ kind: 'created', forward: { ...record, port } });
    } catch (error) {
      await this.end(live, 'revoked');
      throw error;
    }
    return { record, live };
  }

  /** The terms hold once they are stored, not before: a control plane that is killed meanwhile goes by the record. */
  async #storeTerms(live: LiveForward, terms: ForwardTerms): Promise<ForwardRecord> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    const change = this.columnsOf(terms, now);
    const record = live.ended ? undefined : await storage.writes.write((tx) => updateTerms(tx, live.key, now, change));
    // Its time may have come meanwhile.
    if (!record || live.ended) throw hasEnded();
    live.applyTerms(termsOf(record));
    return record;
  }

  /** @throws AppError `invalid` naming the field */
  columnsOf({ expireAfterMinutes, allowFrom }: ForwardTerms, now: number): Parameters<typeof updateTerms>[3] {
    const { allowPrivateSources: allowPrivate } = this.#deps.settings;
    return {
      ...(expireAfterMinutes === undefined ? {} : { expires_at: now + expireAfterMinutes * 60_000, renewed_at: now }),
      ...(allowFrom === undefined ? {} : { allow_only_cidr: normaliseSource(allowFrom, { allowPrivate }) }),
    };
  }

  #liveOptions(record: ForwardRecord) {
    const { clock, limits } = this.#deps;
    const key = { teamId: record.team_id, id: record.id };
    return {
      id: record.id,
      teamId: record.team_id,
      routerId: record.router_id,
      terms: termsOf(record),
      idleMs: record.idle_seconds === null ? null : record.idle_seconds * 1000,
      clock,
      limits,
      onConnectionClosed: (summary: ConnectionSummary): void => {
        this.connectionLog.connectionClosed(key, summary);
        this.traffic.connectionClosed(key.teamId, summary);
      },
      onRefused: (source: string): void => this.refused(key, source),
    };
  }

  /** Opens the port of a new forward. @returns the port */
  async #listen(live: LiveForward, record: ForwardRecord): Promise<number> {
    const port = await this.entries.open(live, record);
    this.live.add(live);
    live.startExpiry();
    return port;
  }

  async #restore(live: LiveForward, record: ForwardRecord): Promise<void> {
    this.live.add(live);
    live.startExpiry();
    await this.entries.reopen(live, record);
    void this.track(this.ways.open(live, record));
  }

  #endLater(live: LiveForward, how: 'expired' | 'revoked'): void {
    if (!this.#stopping) void this.track(this.end(live, how), 'the end of a forward could not be stored');
  }

  #expireLater(live: LiveForward): void {
    if (this.#stopping) return;
    const expire = async (): Promise<void> => {
      if (!(await this.#hasMoreTime(live))) await this.end(live, 'expired');
    };
    void this.track(expire(), 'the end of a forward could not be stored');
  }

  /** Another control plane may have given it more time, and this one may not have heard of it. A database that does not answer gives none. */
  async #hasMoreTime(live: LiveForward): Promise<boolean> {
    const present = await this.#readInTime(live.key);
    if (present?.closed_at !== null || live.hasTerms(termsOf(present)) || live.ended) return false;
    live.applyTerms(termsOf(present));
    return true;
  }

  #readInTime(key: ForwardKey): Promise<ForwardRecord | undefined> {
    const { clock, storage } = this.#deps;
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => resolve(undefined), EXPIRY_READ_MS);
      const settle = (record?: ForwardRecord): void => {
        timer.cancel();
        resolve(record);
      };
      selectRecord(storage.db, key).then(settle, () => settle());
    });
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
