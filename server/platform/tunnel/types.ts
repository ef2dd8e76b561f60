import type { Hello } from '../../../protocol/index.ts';
import type { AgentEvents } from '../core/agent-gateway.ts';
import type { Clock } from '../core/clock.ts';
import type { Counters } from '../core/counters.ts';
import type { Log } from '../core/log.ts';
import type { TunnelListener } from '../core/tunnel-record.ts';
import type { AgentBudgets } from './budget.ts';
import type { ReplyMemory } from './reply-memory.ts';
import type { Turns } from './turns.ts';

/**
 * What the tunnel needs from the rest of the server, given by compose.ts: it knows no feature and no storage.
 * Callbacks may reject; the tunnel then turns the agent away and lets it try again.
 */
export interface TunnelCallbacks {
  /** `bearer` is what follows `Bearer `: `<agent_id>:<secret>`. Comparing in constant time is this callback's business. */
  authenticateAgent(bearer: string): Promise<AgentIdentity | undefined>;
  /** Raises the agent's epoch. Undefined: the agent is no longer allowed. */
  beginSession(begin: SessionBegin): Promise<SessionStart | undefined>;
  /** The agent has the epoch on disk. False: it is not the agent's newest any more. */
  confirmSession(agentId: string, epoch: number, journalId: string): Promise<boolean>;
  /** The tunnel of this epoch is over; without effect once a newer one has begun. */
  endSession(agentId: string, epoch: number): Promise<void>;
  events: AgentEvents;
  /** Hears of every tunnel, also of those that never become ready. Left out: nobody wants to know. */
  tunnels?: TunnelListener;
}

export interface AgentIdentity {
  agentId: string;
  teamId: string;
  /** Hash of the secret that was shown. An agent may get another one while its dial is under way. */
  credential: string;
}

export interface SessionBegin {
  agentId: string;
  /** As {@link AgentIdentity.credential}: the session begins only while it is still the agent's. */
  credential: string;
  hello: Hello;
  /** Where the tunnel comes from. */
  address: string;
}

export interface SessionStart {
  epoch: number;
  /** The agent's memory of jobs cannot be trusted; see docs/job-handover.md, "agent's disk restored or wiped". */
  reset: boolean;
}

/** A WebSocket as the tunnel's logic sees it: gateway.ts makes one from `ws`, unit tests from memory. */
export interface TunnelSocket {
  send(text: string): void;
  /** @param mark comes back with the answer */
  ping(mark: Buffer): void;
  pong(data: Buffer): void;
  /** Starts the closing handshake; the owner cuts the connection if the other side does not finish it. */
  close(code: number, reason: string): void;
  terminate(): void;
  pause(): void;
  resume(): void;
  /** Bytes handed over and not yet taken by the kernel. */
  readonly bufferedAmount: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

export interface TunnelSettings {
  /** How often agents report, milliseconds. */
  heartbeatMs: number;
  /** Longest pause between two pings; dead after two silent ones. Proxies cut idle links at 60 s. */
  pingMs: number;
  /** When the agent gives the tunnel up if nothing at all came; more than two ping periods. */
  silenceMs: number;
}

export const DEFAULT_TUNNEL_SETTINGS: TunnelSettings = { heartbeatMs: 30_000, pingMs: 25_000, silenceMs: 55_000 };

/** Where a session `S` stands among its agent's others; kept by the registry. */
export interface SessionPlace<S> {
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
  place: SessionPlace<S>;
  /** What agents may have the server do. */
  budgets: AgentBudgets;
  turns: Turns;
  /** What replies may keep in memory before they are complete. */
  replies: ReplyMemory;
  counters: Counters;
}
