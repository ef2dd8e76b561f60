import type { Cluster } from '../../../feature.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { LiveForward } from '../live-forward.ts';
import { sourceMatcher } from '../policy.ts';
import { termsOf } from '../terms.ts';
import type { NamedForward } from '../entry/names/tls-name-entry.ts';
import type { ForwardKey } from '../store.ts';
import type { Carried, ConnectionAcceptor, EndedBy, ForwardMaker, ForwardRecord, ForwardRequest } from '../types.ts';
import type { Doors } from './doors.ts';
import type { Entered } from './messages.ts';
import type { DoorCount, HomeEvents, OtherHomes } from './other-homes.ts';
import type { OwnForwards } from './types.ts';
import { hasOwnOrOrphans, selectOpenByIds, selectOwnAndOrphans, selectRecord } from './store.ts';
import type { OpenForward } from './store.ts';

export interface HomesDeps {
  cluster: Pick<Cluster, 'nodeId' | 'members' | 'looks' | 'isCounted' | 'gone'>;
  storage: Storage;
  clock: Clock;
  log: Log;
  /** `entry_point` of the forwards of this home. */
  host: string;
  own: OwnForwards;
  doors: Doors;
  others: OtherHomes;
}

/** Connections of dead control planes are looked for this often, besides when one is declared dead. */
const SETTLE_EVERY_LOOKS = 12;

/**
 * How long a forward waits for a new home. Clients know it by host and port: a control plane at the same host takes it at once, the chosen one
 * first; another host only when none has come back there.
 */
const ADOPTION_MS = { sameHost: { chosen: 0, other: 10_000 }, otherHost: { chosen: 20_000, other: 40_000 } } as const;

/** `isCounted` is false 7 s after the last beat that was stored. */
const CLOSES_AFTER_MS = 30_000 - 7000;

/** Clients by name whose forward is looked up at the same time; scanners try names that do not exist. */
const MOST_LOOKUPS = 500;

/**
 * What makes a forward one of several control planes: it has one home, which opens its port and lets clients in, and every other one is a door to
 * it. Follows what the database says: forwards of homes that died are adopted, those that others have changed, ended or taken over follow.
 */
export class Homes implements HomeEvents {
  readonly #deps: HomesDeps;
  readonly #watch: Periodic;
  /** When each forward without a home was seen first, monotonic. */
  #orphans = new Map<string, number>();
  #looking: Promise<void> | undefined;
  #looked = 0;
  #countedAt: number;
  #lookups = 0;
  #unsubscribe: () => void = () => undefined;
  #stopAsking: (() => Promise<void>) | undefined;
  #isStopping = false;

  constructor(deps: HomesDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    this.#countedAt = clock.monotonic();
    this.#watch = new Periodic({
      clock,
      log,
      everyMs: 1000,
      failure: 'doors of forwards could not be closed',
      run: () => this.#checkCounted(),
    });
  }

  /** Takes up the forwards of this host that have no home. */
  async start(): Promise<void> {
    const { others, cluster, own } = this.#deps;
    others.attend(this);
    this.#unsubscribe = cluster.gone.subscribe((id) => {
      for (const live of own.live.all()) live.setLent(id, 0);
      void own.track(this.#onGone(), 'forwards of a control plane that is gone could not be read');
    });
    await this.look({ isStart: true });
    this.#stopAsking = cluster.looks.ask({
      asks: () => hasOwnOrOrphans(cluster.nodeId),
      onAnswer: (hasForwards) => this.#onLook(hasForwards),
      failure: 'the forwards of this home could not be read',
    });
    this.#watch.start();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe();
    await this.#stopAsking?.();
    await this.#watch.stop();
    await this.#looking?.catch(() => undefined);
    await this.#deps.doors.stop();
  }

  /** Goes by the database. @throws a storage error */
  look({ isStart = false } = {}): Promise<void> {
    this.#looking ??= this.#look(isStart).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /**
   * Lets a client in that has shown a credential.
   * @throws AppError `conflict` when the forward has ended or is full, `unavailable` when its home cannot be reached
   */
  async enter(stored: ForwardRecord, source: string): Promise<ConnectionAcceptor> {
    const { own } = this.#deps;
    const way = await this.#wayIn(stored);
    if (!way) throw new AppError('conflict', 'the forward has ended');
    if (!('full' in way) || !way.full) return way;
    own.refused({ teamId: stored.team_id, id: stored.id }, source);
    throw new AppError('conflict', 'the forward has as many connections as it can carry');
  }

  /** Finds the forward of a client that comes by name, and asks its home. Never rejects. */
  async findByName(id: string, address: string): Promise<NamedForward | undefined> {
    if (this.#lookups >= MOST_LOOKUPS) return undefined;
    this.#lookups += 1;
    try {
      const [open] = await selectOpenByIds(this.#deps.storage.db, [id]);
      if (!open) return undefined;
      const { record } = open;
      if (sourceMatcher(record.allow_only_cidr)(address)) return await this.#wayIn(record);
      this.#deps.own.refused({ teamId: record.team_id, id }, address);
      return { acceptFrom: () => false };
    } catch (error) {
      this.#deps.log.info({ forward_id: id, err: error }, 'a client by name could not be let in');
      return undefined;
    } finally {
      this.#lookups -= 1;
    }
  }

  create(teamId: string, routerId: string, maker: ForwardMaker, request: ForwardRequest): Promise<{ id: string }> {
    if (!this.#deps.cluster.isCounted() || this.#isStopping)
      throw new AppError('unavailable', 'the control plane that has the agent does not reach the database, or is being stopped');
    return this.#deps.own.create(teamId, routerId, maker, request);
  }

  async onChanged(key: ForwardKey): Promise<void> {
    await this.#deps.own.track(this.settle(key), 'a change of a forward could not be read');
  }

  onEnter(id: string, nodeId: string, open: number): Entered {
    const live = this.#deps.own.live.get(id);
    if (!live || live.ended) return { answer: live ? 'ended' : 'elsewhere', spare: 0 };
    return { answer: live.lend(nodeId, open) ? 'welcome' : 'full', spare: live.spare };
  }

  onLost(agentId: string, id: string, reason: string): void {
    this.#deps.own.onLost(agentId, id, reason);
  }

  carriedOf(id: string): Carried | undefined {
    const { own } = this.#deps;
    const carried = own.carriedOf(id);
    return Object.values(carried).some((count) => count > 0) ? carried : undefined;
  }

  onCounts(nodeId: string, counts: readonly DoorCount[]): void {
    for (const { id, open, kept } of counts) this.#deps.own.live.get(id)?.setLent(nodeId, open, kept);
  }

  onAgentReady({ agentId, teamId, epoch }: { agentId: string; teamId: string; epoch: number }): void {
    const { own, doors } = this.#deps;
    const why = 'the agent has a new tunnel';
    for (const door of doors.ofAgent(agentId)) if (door.teamId === teamId) door.dropFreeChannels(why);
    for (const live of own.live.ofAgent(agentId)) {
      if (live.teamId !== teamId || live.wasRequestedOn({ agentId, epoch })) continue;
      live.dropFreeChannels(why);
      own.reopen(live);
    }
  }

  onAgentDropped(teamId: string, agentId: string, why: string): void {
    const { own } = this.#deps;
    void own.track(
      (async () => {
        await this.dropDoorsOf(teamId, agentId);
        await own.dropAgent(teamId, agentId, why);
      })(),
      'the loss of an agent could not be stored',
    );
  }

  /** The agent may carry nothing more. */
  async dropDoorsOf(teamId: string, agentId: string): Promise<void> {
    const { doors } = this.#deps;
    const ids = doors.ofAgent(agentId).flatMap((door) => (door.teamId === teamId ? [door.id] : []));
    await Promise.all(ids.map((id) => doors.close(id, 'channel')));
  }

  /** Makes what this control plane has of a forward what its record says. @throws a storage error */
  async settle(key: ForwardKey): Promise<void> {
    const { own, doors, storage } = this.#deps;
    const live = own.live.get(key.id);
    if (!live && !doors.get(key.id)) return;
    const record = await selectRecord(storage.db, key);
    if (!record) return;
    if (live) await this.#settleOwn(live, record);
    await this.#settleDoor(record);
  }

  /** Changes that were not heard of are found by it. */
  async #onLook(hasForwards: boolean): Promise<void> {
    const { own, doors, cluster } = this.#deps;
    if (hasForwards || this.#orphans.size + own.live.all().length + doors.all().length > 0) await this.look();
    this.#looked += 1;
    if (this.#looked % SETTLE_EVERY_LOOKS === 0 && cluster.members.isOwn('forward connections')) await own.settleConnections();
  }

  async #look(isStart: boolean): Promise<void> {
    const { storage, cluster, own } = this.#deps;
    const rows = await selectOwnAndOrphans(storage.db, cluster.nodeId);
    const seen = new Set(rows.map(({ record }) => record.id));
    this.#orphans = new Map([...this.#orphans].filter(([id]) => seen.has(id)));
    for (const row of rows) {
      if (this.#isStopping) return;
      if (row.record.node_id === cluster.nodeId) await this.#lookAtOwn(row);
      else await this.#lookAtOrphan(row, isStart);
    }
    for (const live of own.live.all()) if (!seen.has(live.id)) await this.settle({ teamId: live.teamId, id: live.id });
    await this.#lookAtDoors();
  }

  async #lookAtOwn({ record, agentId, isAgentRevoked, tunnelEpoch }: OpenForward): Promise<void> {
    const { own } = this.#deps;
    const live = own.live.get(record.id);
    if (!live) {
      if (!own.isCreating()) await this.#takeUpAgain(record);
      return;
    }
    await this.#settleOwn(live, record);
    if (live.ended) return;
    if (isAgentRevoked) {
      if (agentId !== '' && live.agentId === agentId) await own.dropAgent(live.teamId, agentId, 'the agent was revoked');
    } else if (agentId !== '' && agentId !== live.agentId) {
      own.reopen(live);
    } else if (tunnelEpoch !== undefined && !live.wasRequestedOn({ agentId, epoch: tunnelEpoch })) {
      live.dropFreeChannels('the agent has a new tunnel');
      own.reopen(live);
    } else if (record.way === null && live.hasWay) {
      own.reopen(live);
    }
  }

  /** Its doors were closed, because this control plane did not count for a while. */
  async #takeUpAgain({ team_id: teamId, id }: ForwardRecord): Promise<void> {
    const { storage, cluster, own } = this.#deps;
    const record = await selectRecord(storage.db, { teamId, id });
    if (record?.closed_at !== null || record.node_id !== cluster.nodeId || own.live.get(id) || !cluster.isCounted()) return;
    await own.takeUp(record);
  }

  async #lookAtOrphan({ record }: OpenForward, isStart: boolean): Promise<void> {
    const { clock, cluster, host } = this.#deps;
    const now = clock.monotonic();
    const since = this.#orphans.get(record.id) ?? now;
    this.#orphans.set(record.id, since);
    const isSameHost = record.entry_point === host;
    const waits = ADOPTION_MS[isSameHost ? 'sameHost' : 'otherHost'];
    const wait = waits[cluster.members.isOwn(record.id) ? 'chosen' : 'other'];
    if ((isStart && isSameHost) || now - since >= wait) await this.#adopt(record);
  }

  async #adopt(record: ForwardRecord): Promise<void> {
    const { own, log, cluster } = this.#deps;
    if (!cluster.isCounted() || this.#isStopping || !(await own.adopt(record))) return;
    log.info({ forward_id: record.id }, 'this control plane is the home of a forward now whose former one is gone');
  }

  async #lookAtDoors(): Promise<void> {
    const { doors, storage } = this.#deps;
    const lives = doors.all();
    const rows = new Map(
      (
        await selectOpenByIds(
          storage.db,
          lives.map(({ id }) => id),
        )
      ).map((row) => [row.record.id, row]),
    );
    for (const live of lives) {
      const row = rows.get(live.id);
      if (!row) await this.settle({ teamId: live.teamId, id: live.id });
      else if (row.agentId !== live.agentId || row.isAgentRevoked) await doors.close(live.id, 'channel');
      else await this.#settleDoor(row.record);
    }
    await doors.look();
  }

  async #settleOwn(live: LiveForward, record: ForwardRecord): Promise<void> {
    const { own, cluster, storage } = this.#deps;
    if (record.closed_at !== null || record.node_id !== cluster.nodeId) {
      live.cancelRetry();
      await live.end(whyOver(record));
      own.live.delete(live.id);
      if (record.closed_at !== null) own.closeAtAgent(live);
      return;
    }
    const former = live.terms;
    if (live.ended || live.hasTerms(termsOf(record))) return;
    const newest = await live.changeInTurn(async () => {
      const present = await selectRecord(storage.db, live.key);
      if (present?.closed_at === null) live.applyTerms(termsOf(present));
      return present;
    });
    if (newest?.closed_at === null && newest.expires_at !== former.expiresAt) await own.renew(live, newest);
  }

  async #settleDoor(record: ForwardRecord): Promise<void> {
    const { doors } = this.#deps;
    const door = doors.get(record.id);
    if (!door || door.ended) return;
    if (record.closed_at !== null) {
      await doors.close(record.id, whyOver(record));
      return;
    }
    if (record.node_id !== null) doors.homeIs(record.id, record.node_id);
    if (!door.hasTerms(termsOf(record))) doors.applyTerms(door, termsOf(record));
  }

  /** @returns undefined when the forward has ended @throws AppError when it is full or its home cannot be reached */
  async #wayIn(stored: ForwardRecord): Promise<(ConnectionAcceptor & NamedForward & { full?: boolean }) | undefined> {
    const { cluster, own, doors, storage } = this.#deps;
    const key = { teamId: stored.team_id, id: stored.id };
    let record: ForwardRecord | undefined = stored;
    // Its home may be a former one, and the one that adopts it another.
    for (let attempt = 0; attempt < 3 && record?.closed_at === null; attempt += 1) {
      const { node_id: home } = record;
      if (home === cluster.nodeId) {
        const live = own.live.get(record.id);
        return live?.ended === false ? live : undefined;
      }
      if (home !== null && cluster.members.ids.includes(home)) {
        const placed = { ...record, node_id: home };
        const entry = doors.enterKept(placed) ?? (await doors.enter(placed, await own.agentOf(record)));
        if (entry) return entry;
      } else {
        // A client waits: the preferred home may come back later, or never.
        await this.#adopt(record);
      }
      record = await selectRecord(storage.db, key);
    }
    return undefined;
  }

  async #onGone(): Promise<void> {
    await this.#looking?.catch(() => undefined);
    if (this.#isStopping) return;
    await this.look();
    if (this.#deps.cluster.members.isOwn('forward connections')) await this.#deps.own.settleConnections();
  }

  /** Others may have taken the forwards over, or ended them: without the database this control plane does not know. */
  async #checkCounted(): Promise<void> {
    const { cluster, clock, own, doors, log } = this.#deps;
    const now = clock.monotonic();
    if (cluster.isCounted()) this.#countedAt = now;
    if (now - this.#countedAt < CLOSES_AFTER_MS) return;
    const lives = own.live.all().filter(({ ended }) => !ended);
    if (lives.length + doors.all().length === 0) return;
    log.error({ count: lives.length }, 'the doors of all forwards are closed: this control plane has not reached the database for 30 s');
    for (const live of lives) live.cancelRetry();
    await Promise.all([...lives.map((live) => live.end('node_lost')), ...doors.all().map(({ id }) => doors.close(id, 'node_lost'))]);
    for (const { id } of lives) own.live.delete(id);
  }
}

function whyOver({ closed_at: closedAt, revoked_at: revokedAt }: ForwardRecord): EndedBy {
  if (closedAt === null) return 'node_lost';
  return revokedAt === null ? 'expired' : 'revoked';
}
