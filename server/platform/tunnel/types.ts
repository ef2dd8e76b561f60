import type { Hello } from '../../../protocol/index.ts';
import type { AgentEvents } from '../core/agent-gateway.ts';
import type { Clock } from '../core/clock.ts';
import type { Counters } from '../core/counters.ts';
import type { Log } from '../core/log.ts';
import type { TunnelListener } from '../core/tunnel-record.ts';
import type { AgentBudgets } from './budget.ts';
import type { ReplyMemory } from './reply-memory.ts';
import type { LoopTime } from './loop-time.ts';

/**
 * What the tunnel needs from the rest of the server; it knows neither features nor storage. Callbacks may reject; the
 * tunnel then rejects the agent, which retries.
 */
export interface TunnelCallbacks {
  /** `bearer` is what follows `Bearer `: `<agent_id>:<secret>`. This callback must compare in constant time. */
  authenticateAgent(bearer: string): Promise<AgentIdentity | undefined>;
  /** Raises the agent's epoch. Undefined: the agent is no longer authorised. */
  beginSession(begin: SessionBegin): Promise<SessionStart | undefined>;
  /** The agent has stored the epoch on disk. False: it is no longer the agent's newest. */
  confirmSession(agentId: string, epoch: number, journalId: string): Promise<boolean>;
  /** The tunnel of this epoch has ended; without effect when a newer one exists. */
  endSession(agentId: string, epoch: number): Promise<void>;
  events: AgentEvents;
  /** Listens to every tunnel, also to those that never become ready. Optional. */
  tunnels?: TunnelListener;
}

export interface AgentIdentity {
  agentId: string;
  teamId: string;
  /** Hash of the presented secret. The agent's secret may be replaced during its dial. */
  credential: string;
}

export interface SessionBegin {
  agentId: string;
  /** As {@link AgentIdentity.credential}: the session begins only while it is still the agent's. */
  credential: string;
  hello: Hello;
  /** Source address of the tunnel. */
  address: string;
}

export interface SessionStart {
  epoch: number;
  /** The agent's journal cannot be trusted; see docs/job-handover.md, "agent's disk restored or wiped". */
  reset: boolean;
}

/** A WebSocket as sessions use it: endpoint.ts adapts `ws`, unit tests use a fake. */
export interface TunnelSocket {
  send(text: string): void;
  /** @param mark comes back with the answer */
  ping(mark: Buffer): void;
  pong(data: Buffer): void;
  /** Starts the closing handshake; the owner closes the connection when it times out. */
  close(code: number, reason: string): void;
  terminate(): void;
  pause(): void;
  resume(): void;
  /** Bytes that are not yet handed to the kernel. */
  readonly bufferedAmount: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

export interface TunnelSettings {
  /** How often agents report, milliseconds. */
  heartbeatMs: number;
  /** Longest pause between two pings; dead after two silent ones. Proxies cut idle links at 60 s. */
  pingMs: number;
  /** After how long without any bytes the agent closes the tunnel; more than two ping periods. */
  silenceMs: number;
  /** Over which time agents that lose this control plane come to the others, milliseconds; none for one that serves alone. */
  reconnectSpreadMs?: () => number;
}

/** Of one of several: whoever was cut off without a word is with another one after 45 s at most. */
export const CLUSTER_TUNNEL_SETTINGS = { pingMs: 15_000, silenceMs: 35_000 };

export const DEFAULT_TUNNEL_SETTINGS: TunnelSettings = { heartbeatMs: 30_000, pingMs: 25_000, silenceMs: 55_000 };

/** Where a session `S` stands among its agent's others; kept by the registry. */
export interface SessionSlot<S> {
  /**
   * The session has its epoch and takes over from an older one.
   * @returns the end of the older one; undefined when this session is itself the older one
   */
  claim(session: S): Promise<void> | undefined;
  /** The session accepts nothing more. */
  release(session: S): void;
}

/** What all sessions of a node share. */
export interface SessionDeps<S> {
  callbacks: TunnelCallbacks;
  settings: TunnelSettings;
  clock: Clock;
  /** 0 <= x < 1. */
  random: () => number;
  log: Log;
  slot: SessionSlot<S>;
  /** Rate limits of agents. */
  budgets: AgentBudgets;
  loopTime: LoopTime;
  /** Memory for incomplete replies. */
  replies: ReplyMemory;
  counters: Counters;
}
