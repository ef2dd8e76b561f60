import type { Request } from '../../../protocol/index.ts';
import type { AgentGateway, Notice, RequestOptions, RequestParams, RequestResult } from '../core/agent-gateway.ts';
import type { Clock } from '../core/clock.ts';
import { Counters } from '../core/counters.ts';
import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { EndedBy } from '../core/tunnel-record.ts';
import { AgentBudgets } from './budget.ts';
import { ReplyMemory } from './reply-memory.ts';
import { TunnelSession } from './session.ts';
import { LoopTime } from './loop-time.ts';
import { DEFAULT_TUNNEL_SETTINGS } from './types.ts';
import type { AgentIdentity, SessionDeps, TunnelCallbacks, TunnelSettings, TunnelSocket } from './types.ts';
import { FewSet } from '../core/few.ts';

export interface RegistryOptions {
  callbacks: TunnelCallbacks;
  clock: Clock;
  log: Log;
  settings?: Partial<TunnelSettings>;
  counters?: Counters;
  /** 0 <= x < 1; spreads pings and reconnects. */
  random?: () => number;
}

/** After a restart all agents reconnect: spread over this time, 10,000 of them are 1,000 a second. */
const RECONNECT_SPREAD_MS = 10_000;

/**
 * While it drains: most agents that are sent away together, and how often: 500 a second. No more than so many are on their way: else the others
 * have more to do than they can, and answer requests late. A few go all the same, because an agent may not come back at all.
 */
const SLICE = { agents: 50, everyMs: 100, least: 5 };
/** Longest wait for what an agent was asked before it is sent away, milliseconds. */
const DRAIN_PATIENCE_MS = 10_000;

/**
 * Concurrent tunnels of one agent: the present one, those that broke and that the server has not yet detected as dead, and a
 * second process with the same credential.
 */
export const MAX_TUNNELS_PER_AGENT = 8;

/**
 * How long requests wait for the new tunnel of an agent that was sent away, milliseconds. It dials at once, and a second and third time within
 * 3 s when a load balancer sends it to a control plane that takes no tunnels.
 */
const COMES_BACK_MS = 5000;

/** Whoever passes requests on to agents. */
export interface RequestHolder {
  /** Requests to this agent wait for its next tunnel from now on, at most so long. */
  leaves(agentId: string, forMs: number): void;
  /** Whether requests to this agent wait for its next tunnel. */
  isOnItsWay(agentId: string): boolean;
  /** The agent takes requests over its tunnel with this node. */
  announce(agentId: string, epoch: number): void;
}

/** All tunnels of this node: the newest of each agent is the one that features reach. */
export class TunnelRegistry implements AgentGateway {
  readonly #deps: SessionDeps<TunnelSession>;
  /** By agent: the session with the highest epoch. */
  readonly #newest = new Map<string, TunnelSession>();
  /** All sessions whose end is not recorded yet. */
  readonly #sessions = new Set<TunnelSession>();
  /** The open sessions of each agent, oldest first. */
  readonly #open = new Map<string, FewSet<TunnelSession>>();
  /** By agent: resolves when the ends of its earlier sessions are recorded. Until then none of a later one is ready. */
  readonly #ending = new Map<string, Promise<void>>();
  #closing = false;

  constructor({ callbacks, clock, log, settings, counters = new Counters(), random = Math.random }: RegistryOptions) {
    this.#deps = {
      callbacks,
      clock,
      log,
      random,
      counters,
      budgets: new AgentBudgets(),
      loopTime: new LoopTime(clock),
      replies: new ReplyMemory(),
      settings: { ...DEFAULT_TUNNEL_SETTINGS, ...settings },
      slot: { claim: (session) => this.#claim(session), release: (session) => this.#release(session) },
    };
  }

  /** Tunnels that are open or whose end is being recorded. */
  get size(): number {
    return this.#sessions.size;
  }

  /** How long this agent may not dial, milliseconds; 0 when its credential may be checked. */
  pauseOf(agentId: string): number {
    const { budgets, clock } = this.#deps;
    return budgets.known(agentId)?.pauseMs(clock.monotonic()) ?? 0;
  }

  /** Counts the dial of an authenticated agent. @returns how long it has to wait, milliseconds; 0 when the dial is accepted */
  dial({ agentId }: AgentIdentity): number {
    const { budgets, clock, counters } = this.#deps;
    const now = clock.monotonic();
    const waitMs = budgets.of(agentId, now).dial(now);
    if (waitMs > 0) counters.add('tunnel_dials');
    return waitMs;
  }

  /** Starts the session of an authenticated agent's new tunnel. */
  open(identity: AgentIdentity, address: string, socket: TunnelSocket): TunnelSession {
    const session = new TunnelSession(identity, address, socket, this.#deps);
    this.#sessions.add(session);
    void session.ended.then(() => this.#sessions.delete(session));
    this.#makeRoom(identity.agentId).add(session);
    if (this.#closing) this.#closeForStop(session);
    return session;
  }

  async request<M extends Request['method']>(
    agentId: string,
    method: M,
    params: RequestParams<M>,
    options: RequestOptions,
  ): Promise<RequestResult<M>> {
    const session = this.#newest.get(agentId);
    if (!session) throw new AppError('agent_offline', 'the agent is not connected');
    return session.request(method, params, options);
  }

  notify(agentId: string, message: Notice): boolean {
    return this.#newest.get(agentId)?.notify(message) ?? false;
  }

  async deliver(agentId: string, message: Notice): Promise<void> {
    this.notify(agentId, message);
  }

  epoch(agentId: string): number | undefined {
    return this.#newest.get(agentId)?.epoch;
  }

  isConnected(agentId: string): boolean {
    return this.epoch(agentId) !== undefined;
  }

  disconnect(agentId: string, reason: 'revoked' | 'restart', endedBy?: EndedBy): void {
    for (const session of this.#sessions) if (session.identity.agentId === agentId) session.close(reason, { endedBy });
  }

  /** Another control plane has a newer tunnel of this agent: closes those of earlier epochs. */
  closeOlder(agentId: string, epoch: number): void {
    const session = this.#newest.get(agentId);
    if (session && session.claimedEpoch < epoch) session.close('replaced');
  }

  /**
   * Sends the agents to other control planes: 500 a second, or as fast as those take them. From then on an agent gets no more requests, and it
   * goes when those under way are answered, or after 10 s. Resolves when all are gone or the signal aborts. Agents that come meanwhile are sent
   * away too.
   */
  async drain(signal: AbortSignal, requests: RequestHolder): Promise<void> {
    const { clock } = this.#deps;
    /** Until when each may answer. */
    const leaving = new Map<TunnelSession, number>();
    /** Those that were sent away and have no other tunnel yet. */
    const onTheirWay = new Set<string>();
    while (this.#sessions.size > 0 && !signal.aborted) {
      for (const agentId of onTheirWay) if (!requests.isOnItsWay(agentId)) onTheirWay.delete(agentId);
      this.#chooseLeaving(leaving, requests, Math.max(SLICE.least, SLICE.agents - onTheirWay.size));
      for (const [session, patientUntil] of leaving) {
        if (!session.canLeave(clock.monotonic() >= patientUntil)) continue;
        onTheirWay.add(session.identity.agentId);
        sendToOther(session, requests);
      }
      await new Promise<void>((resolve) => {
        clock.setTimeout(resolve, SLICE.everyMs);
      });
    }
    for (const session of leaving.keys()) if (session.epoch !== undefined) requests.announce(session.identity.agentId, session.epoch);
  }

  /**
   * Sends some agents to other control planes, none of which has a request under way.
   * @returns how many were sent: fewer when the others are busy
   */
  sendAway(most: number, requests: RequestHolder): number {
    let sent = 0;
    for (const [agentId, session] of this.#newest) {
      if (sent === most) break;
      if (session.epoch === undefined || requests.isOnItsWay(agentId) || !session.canLeave(false)) continue;
      sendToOther(session, requests);
      sent += 1;
    }
    return sent;
  }

  #chooseLeaving(leaving: Map<TunnelSession, number>, requests: RequestHolder, most: number): void {
    let room = most;
    for (const session of this.#sessions) {
      if (room === 0) return;
      if (leaving.has(session)) continue;
      room -= 1;
      leaving.set(session, this.#deps.clock.monotonic() + DRAIN_PATIENCE_MS);
      if (!session.canLeave(false)) requests.leaves(session.identity.agentId, DRAIN_PATIENCE_MS + COMES_BACK_MS);
    }
  }

  /** Sends goaway to every agent and waits until all received messages are handled. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const session of this.#sessions) this.#closeForStop(session);
    await Promise.all([...this.#sessions].map((session) => session.ended));
  }

  /** The open sessions of an agent; closes the oldest ones to make room for one more. */
  #makeRoom(agentId: string): FewSet<TunnelSession> {
    const open = this.#open.get(agentId) ?? new FewSet<TunnelSession>();
    this.#open.set(agentId, open);
    for (const oldest of open) {
      if (open.size < MAX_TUNNELS_PER_AGENT) break;
      this.#deps.counters.add('tunnels_per_agent');
      oldest.close('replaced');
    }
    return open;
  }

  #closeForStop(session: TunnelSession): void {
    session.close('restart', { reconnectAfterMs: Math.floor(this.#deps.random() * RECONNECT_SPREAD_MS), endedBy: 'server_stopped' });
  }

  #claim(session: TunnelSession): Promise<void> | undefined {
    const { agentId } = session.identity;
    const other = this.#newest.get(agentId);
    if (other && other.claimedEpoch > session.claimedEpoch) return undefined;
    this.#newest.set(agentId, session);
    other?.close('replaced');
    return this.#ending.get(agentId) ?? Promise.resolve();
  }

  #release(session: TunnelSession): void {
    const { agentId } = session.identity;
    if (this.#newest.get(agentId) === session) this.#newest.delete(agentId);
    const open = this.#open.get(agentId);
    open?.delete(session);
    if (open?.size === 0) this.#open.delete(agentId);
    this.#awaitEnd(session);
  }

  /** Also a session that left by itself: what it said last may still be being stored when its agent is back. */
  #awaitEnd({ identity: { agentId }, ended }: TunnelSession): void {
    const ending = Promise.all([this.#ending.get(agentId), ended]).then(() => {
      if (this.#ending.get(agentId) === ending) this.#ending.delete(agentId);
    });
    this.#ending.set(agentId, ending);
  }
}

function sendToOther(session: TunnelSession, requests: RequestHolder): void {
  requests.leaves(session.identity.agentId, COMES_BACK_MS);
  session.close('restart', { reconnectAfterMs: 0, endedBy: 'server_stopped' });
}
