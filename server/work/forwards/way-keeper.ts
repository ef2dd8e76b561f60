import type { AgentConnection, AgentGateway, RequestResult } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError } from '../../platform/core/errors.ts';
import { hashSecret, newSecret } from '../../platform/core/ids.ts';
import type { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { ForwardLimits } from './limits.ts';
import type { LiveForward } from './live-forward.ts';
import { markAuthorized, markNoWay, selectEndedEarly, updateChannelToken } from './store.ts';
import type { ForwardChange, ForwardRecord } from './types.ts';

export interface WayKeeperDeps {
  storage: Storage;
  routers: Pick<RoutersService, 'getRouter'>;
  gateway: AgentGateway;
  clock: Clock;
  log: Log;
  limits: ForwardLimits;
  changes: Pick<Listeners<ForwardChange>, 'publish'>;
  /** Calls {@link WayKeeper.open} with the present record, as work that has an owner. */
  reopen: (live: LiveForward) => void;
}

/** 256 bits and more: the bearer of a forward's channel dials. */
const CHANNEL_SECRET_LENGTH = 48;

/** What an agent that comes back is told about at most; of what ended before that, the time runs out soonest. */
const MOST_ENDED = 1000;

/** It is also told of those whose time was over so lately: the timers of a machine that slept know nothing of it. */
const LATELY_MS = 24 * 3_600_000;

/** A channel bearer is `<forward id>:<secret>`, so that it is found without a query. */
export function newChannelToken(forwardId: string): { token: string; hash: string } {
  const token = `${forwardId}:${newSecret(CHANNEL_SECRET_LENGTH)}`;
  return { token, hash: hashSecret(token) };
}

/** Has the agent's side of every open forward opened, again after every new tunnel and after failures that may pass. */
export class WayKeeper {
  readonly #deps: WayKeeperDeps;

  constructor(deps: WayKeeperDeps) {
    this.#deps = deps;
  }

  /** Asks the agent once; never rejects. What came of it is on the record. */
  async open(live: LiveForward, record: ForwardRecord): Promise<void> {
    if (live.ended) return;
    live.cancelRetry();
    const former = live.agentId;
    let farewell: Promise<void> | undefined;
    try {
      const router = await this.#deps.routers.getRouter(live.teamId, live.routerId);
      live.assignAgent(router.agent_id);
      if (former !== '' && former !== live.agentId) {
        farewell = this.close({ id: live.id, agentId: former });
        await this.#distrust(live);
      }
      const epoch = this.#deps.gateway.epoch(router.agent_id);
      live.noteTunnel(epoch);
      if (epoch === undefined || router.agent_router === '') return;
      const result = await this.#ask(live, record, router.agent_router, router.hardware_id);
      await this.#opened(live, result);
    } catch (error) {
      await this.#failed(live, error);
    } finally {
      await farewell;
    }
  }

  /** Nothing goes through its agent from this moment on. @param why for who reads the record. @throws a storage error, after cutting */
  async leaveAgent(live: LiveForward, why: string): Promise<void> {
    live.leaveAgent();
    await this.#distrust(live);
    const key = { teamId: live.teamId, id: live.id };
    const lost = await this.#deps.storage.writes.write((tx) => markNoWay(tx, key, why));
    if (lost) this.#deps.changes.publish({ kind: 'lost', forward: lost });
  }

  /**
   * Tells the agent that it is over; never rejects. An agent that is away hears it from {@link closeEnded} when it
   * comes back, or ends the forward by itself when its time is over.
   */
  async close({ id, agentId }: { id: string; agentId: string }): Promise<void> {
    if (agentId === '' || this.#deps.gateway.epoch(agentId) === undefined) return;
    try {
      const options = { timeoutMs: this.#deps.limits.openTimeoutMs };
      await this.#deps.gateway.request(agentId, 'forward.close', { forward_id: id }, options);
    } catch (error) {
      this.#deps.log.info({ forward_id: id, agent_id: agentId, err: error }, 'the agent was not told that a forward is over');
    }
  }

  /** Tells an agent that is back which forwards it may still take for open. @throws a storage error */
  async closeEnded({ agentId, teamId, epoch }: AgentConnection): Promise<void> {
    const { storage, clock, gateway } = this.#deps;
    const ended = await selectEndedEarly(storage.db, { teamId, agentId }, clock.now() - LATELY_MS, MOST_ENDED);
    for (const { id } of ended) {
      if (gateway.epoch(agentId) !== epoch) return;
      await this.close({ id, agentId });
    }
  }

  /** Cuts what the agent carries and makes the token it was given worthless. @throws a storage error, after cutting */
  async #distrust(live: LiveForward): Promise<void> {
    const { hash } = newChannelToken(live.id);
    live.distrustAgent(hash);
    await this.#deps.storage.writes.write((tx) => updateChannelToken(tx, { teamId: live.teamId, id: live.id }, hash));
  }

  async #ask(live: LiveForward, record: ForwardRecord, router: string, hardwareId: string): Promise<RequestResult<'forward.open'>> {
    const { storage, gateway, limits } = this.#deps;
    // The old token is stored as a hash only, so every opening has a new one.
    const { token, hash } = newChannelToken(live.id);
    await storage.writes.write((tx) => updateChannelToken(tx, { teamId: live.teamId, id: live.id }, hash));
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
        warm_channels: limits.warmChannels,
        max_channels: limits.channels,
      },
      { timeoutMs: limits.openTimeoutMs },
    );
  }

  async #opened(live: LiveForward, result: RequestResult<'forward.open'>): Promise<void> {
    const found = {
      way: result.way,
      wayReason: live.portProblem ?? result.way_reason,
      targetReachable: result.target_reachable,
      // Whoever comes by the port of a forward that has lost it reaches another program.
      authorizedAt: live.portProblem === undefined ? this.#deps.clock.now() : null,
    };
    const key = { teamId: live.teamId, id: live.id };
    const open = await this.#deps.storage.writes.write((tx) => markAuthorized(tx, key, found));
    if (open && !live.ended) this.#deps.changes.publish({ kind: found.authorizedAt === null ? 'lost' : 'authorized', forward: open });
    // Revoked or expired while the agent was opening it.
    else await this.close(live);
  }

  async #failed(live: LiveForward, error: unknown): Promise<void> {
    const { storage, log, limits } = this.#deps;
    const reason = error instanceof AppError ? error.message : 'internal error';
    log.warn({ forward_id: live.id, agent_id: live.agentId, err: error }, 'the agent could not open a forward');
    const key = { teamId: live.teamId, id: live.id };
    // What the agent's rules forbid stays forbidden.
    const refused = error instanceof AppError && error.code === 'invalid';
    try {
      const lost = await storage.writes.write((tx) => markNoWay(tx, key, reason.slice(0, 300), refused));
      if (lost) this.#deps.changes.publish({ kind: 'lost', forward: lost });
    } catch (storeError) {
      log.warn({ forward_id: live.id, err: storeError }, 'the state of a forward could not be stored');
    }
    // Without a tunnel, the agent's return brings the next attempt.
    const passing = !refused && !(error instanceof AppError && error.code === 'agent_offline');
    if (live.ended) {
      // The agent may have opened it all the same, too late to be heard.
      await this.close(live);
    } else if (passing) {
      live.retryIn(limits.retryMs, () => this.#deps.reopen(live));
    }
  }
}
