import type { AgentConnection, AgentGateway, RequestResult } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError } from '../../platform/core/errors.ts';
import { Gathered } from '../../platform/core/gathered.ts';
import { hashSecret, newSecret } from '../../platform/core/ids.ts';
import type { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { ForwardLimits } from './limits.ts';
import type { LiveForward } from './live-forward.ts';
import { selectEndedEarly, updateChannelToken } from './store.ts';
import { findWay, loseWay } from './transitions.ts';
import type { ForwardChange, ForwardRecord } from './types.ts';

export interface WayOpenerDeps {
  storage: Storage;
  routers: Pick<RoutersService, 'getRouter'>;
  gateway: AgentGateway;
  clock: Clock;
  log: Log;
  limits: ForwardLimits;
  changes: Pick<Listeners<ForwardChange>, 'publish'>;
  /** Calls {@link WayOpener.open} with the present record, as work that has an owner. */
  reopen: (live: LiveForward) => void;
  /** How far statements for agents are apart when many connect (AGENTS_APART_MS); 0 unless given. */
  agentsApartMs?: number;
  /** Of several control planes: the agent's tunnel may be at another one. */
  shared?: WaysOfSeveral | undefined;
}

export interface WaysOfSeveral {
  /** Where the agent dials the channels: this control plane. */
  channelUrl: string;
  /** Epoch of the agent's tunnel at whichever control plane. */
  tunnelEpoch: (agentId: string) => Promise<number | undefined>;
  /** Makes what is here of a forward what its record says. */
  settle: (live: LiveForward) => Promise<void>;
}

/** More than 256 bits: the bearer of a forward's channel dials. */
const CHANNEL_SECRET_LENGTH = 48;

/** Most ended forwards that a returning agent is notified of. Forwards that ended earlier expire soonest by themselves. */
const MOST_ENDED = 1000;

/** Agents whose ended forwards are read by one statement. */
const AGENTS_AT_ONCE = 100;

/** Also includes forwards that expired this recently, because timers of a machine that slept are late. */
const ENDED_WITHIN_MS = 24 * 3_600_000;

/** A channel bearer is `<forward id>:<secret>`, so that its forward is found without a query. */
export function newChannelToken(forwardId: string): { token: string; hash: string } {
  const token = `${forwardId}:${newSecret(CHANNEL_SECRET_LENGTH)}`;
  return { token, hash: hashSecret(token) };
}

/** Asks agents to open their side of every open forward: again on every new tunnel and after temporary failures. */
export class WayOpener {
  readonly #deps: WayOpenerDeps;
  /** Ids of forwards that ended while agents were away, read together for agents that come back together. */
  readonly #ended: Gathered<AgentConnection, string[]>;

  constructor(deps: WayOpenerDeps) {
    this.#deps = deps;
    this.#ended = new Gathered({
      most: AGENTS_AT_ONCE,
      apartMs: deps.agentsApartMs ?? 0,
      run: (connections) => this.#readEnded(connections),
    });
  }

  /** Asks the agent once; never rejects. The record holds the result. */
  async open(live: LiveForward, record: ForwardRecord): Promise<void> {
    if (live.ended) return;
    live.cancelRetry();
    const former = live.agentId;
    let closing: Promise<void> | undefined;
    try {
      const router = await this.#deps.routers.getRouter(live.teamId, live.routerId);
      live.assignAgent(router.agent_id);
      if (former !== '' && former !== live.agentId) {
        closing = this.close({ id: live.id, agentId: former });
        await this.#isolate(live);
      }
      const epoch = this.#deps.gateway.epoch(router.agent_id) ?? (await this.#deps.shared?.tunnelEpoch(router.agent_id));
      if (live.ended) return;
      live.setTunnelEpoch(epoch);
      if (epoch === undefined || router.agent_router === '') return;
      let result = await this.#requestOpen(live, record, router.agent_router, router.hardware_id);
      if (record.renewed_at !== null && result.renewed !== true) {
        // An older agent left the former end on the router.
        await this.close(live);
        result = await this.#requestOpen(live, record, router.agent_router, router.hardware_id);
      }
      await this.#recordOpened(live, result);
    } catch (error) {
      await this.#recordFailure(live, error);
    } finally {
      await closing;
    }
  }

  /** Stops all traffic through the forward's agent at once. @param why shown on the record. @throws a storage error, after cutting */
  async detachAgent(live: LiveForward, why: string): Promise<void> {
    live.detachAgent();
    await this.#isolate(live);
    const lost = await this.#deps.storage.writes.write((tx) => loseWay(tx, live.key, why, this.#deps.clock.now()));
    if (lost) this.#deps.changes.publish({ kind: 'lost', forward: lost });
  }

  /**
   * Notifies the agent that the forward has ended; never rejects. An offline agent gets this from {@link closeEnded} when
   * it comes back, or ends the forward by itself when it expires.
   */
  async close({ id, agentId }: { id: string; agentId: string }): Promise<void> {
    const { gateway, shared } = this.#deps;
    if (agentId === '' || (!shared && gateway.epoch(agentId) === undefined)) return;
    try {
      const options = { timeoutMs: this.#deps.limits.closeTimeoutMs };
      await gateway.request(agentId, 'forward.close', { forward_id: id }, options);
    } catch (error) {
      this.#deps.log.info({ forward_id: id, agent_id: agentId, err: error }, 'the agent could not be notified that a forward has ended');
    }
  }

  /** Notifies an agent that is online again which forwards ended meanwhile. @throws a storage error */
  async closeEnded(connection: AgentConnection): Promise<void> {
    const { agentId, epoch } = connection;
    for (const id of await this.#ended.call(connection)) {
      if (this.#deps.gateway.epoch(agentId) !== epoch) return;
      await this.close({ id, agentId });
    }
  }

  stop(): Promise<void> {
    return this.#ended.stop();
  }

  async #readEnded(connections: readonly AgentConnection[]): Promise<string[][]> {
    const { storage, clock } = this.#deps;
    const agentIds = [...new Set(connections.map(({ agentId }) => agentId))];
    const since = clock.now() - ENDED_WITHIN_MS;
    const read = (ids: readonly string[]) => selectEndedEarly(storage.db, ids, since, MOST_ENDED * ids.length);
    let ended = await read(agentIds);
    // One agent may have so many that the others' were cut off.
    if (agentIds.length > 1 && ended.length === MOST_ENDED * agentIds.length) {
      ended = [];
      for (const agentId of agentIds) ended.push(...(await read([agentId])));
    }
    const byAgent = Map.groupBy(ended, ({ agentId }) => agentId);
    return connections.map(({ agentId, teamId }) =>
      (byAgent.get(agentId) ?? [])
        .filter((forward) => forward.teamId === teamId)
        .slice(0, MOST_ENDED)
        .map(({ id }) => id),
    );
  }

  /** Cuts the agent's channels and invalidates its token. @throws a storage error, after cutting */
  async #isolate(live: LiveForward): Promise<void> {
    const { hash } = newChannelToken(live.id);
    live.isolateAgent(hash);
    await this.#deps.storage.writes.write((tx) => updateChannelToken(tx, live.key, hash));
  }

  async #requestOpen(live: LiveForward, record: ForwardRecord, router: string, hardwareId: string): Promise<RequestResult<'forward.open'>> {
    const { storage, gateway, limits, shared } = this.#deps;
    // The old token is stored only as a hash, so every request carries a new one.
    const { token, hash } = newChannelToken(live.id);
    const isHome = await storage.writes.write((tx) => updateChannelToken(tx, live.key, hash));
    if (shared && !isHome) throw new AppError('conflict', 'another control plane is the home of this forward');
    live.expectChannels(hash, limits.warmChannels);
    return gateway.request(
      live.agentId,
      'forward.open',
      {
        router,
        hardware_id: hardwareId,
        forward_id: live.id,
        dst_address: record.dst_address,
        dst_port: record.dst_port,
        expires_in_ms: live.timeLeft,
        channel_token: token,
        ...(shared === undefined ? {} : { channel_url: shared.channelUrl }),
        warm_channels: limits.warmChannels,
        max_channels: limits.channels,
      },
      { timeoutMs: limits.openTimeoutMs },
    );
  }

  async #recordOpened(live: LiveForward, result: RequestResult<'forward.open'>): Promise<void> {
    const found = {
      way: result.way,
      wayReason: live.portProblem ?? result.way_reason,
      targetReachable: result.target_reachable,
      // Without its port the forward is unusable: the port leads to another program.
      authorizedAt: live.portProblem === undefined ? this.#deps.clock.now() : null,
    };
    const open = await this.#deps.storage.writes.write((tx) => findWay(tx, live.key, found, this.#deps.clock.now()));
    if (open && !live.ended) {
      live.foundWay();
      this.#deps.changes.publish({ kind: found.authorizedAt === null ? 'lost' : 'authorized', forward: open });
    } else if (this.#deps.shared && !live.ended) {
      // Ended by another control plane, which has told the agent, or it has another home now, which has asked the agent too.
      await this.#deps.shared.settle(live);
    } else {
      // Revoked or expired while the agent was opening it.
      await this.close(live);
    }
  }

  async #recordFailure(live: LiveForward, error: unknown): Promise<void> {
    const { storage, log, limits, shared } = this.#deps;
    const reason = error instanceof AppError ? error.message : 'internal error';
    log.warn({ forward_id: live.id, agent_id: live.agentId, err: error }, 'the agent could not open a forward');
    // The agent's rules forbid the target, so a retry is useless.
    const refused = error instanceof AppError && error.code === 'invalid';
    try {
      const lost = await storage.writes.write((tx) => loseWay(tx, live.key, reason.slice(0, 300), this.#deps.clock.now(), refused));
      if (lost) this.#deps.changes.publish({ kind: 'lost', forward: lost });
    } catch (storeError) {
      log.warn({ forward_id: live.id, err: storeError }, 'the state of a forward could not be stored');
    }
    // Without a tunnel, the next attempt comes when the agent is back.
    const isOffline = error instanceof AppError && error.code === 'agent_offline';
    const passing = !refused && !isOffline;
    // The tunnel may have moved to another control plane in this moment: whoever looks next asks again.
    if (shared && isOffline) live.setTunnelEpoch(undefined);
    if (live.ended) {
      // The agent may have opened it after the request timed out.
      await this.close(live);
    } else if (passing) {
      live.retryIn(limits.retryMs, () => this.#deps.reopen(live));
    }
  }
}
