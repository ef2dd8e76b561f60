import type {
  AgentMessage,
  Hello,
  JobOffer,
  OpenJob,
  ReplyOutcome,
  Request,
  RouterHeartbeat,
  ServerMessage,
} from '../../protocol/index.ts';
import type { AbsenceLog } from '../core/absence-log.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { LastConnection } from './backoff.ts';

/** The WebSocket interface of the link: dialer.ts wraps `ws`, unit tests use one in memory. */
export interface LinkSocket {
  /** Calls `sent` when the kernel has the message or the connection is gone. */
  send(text: string, sent?: () => void): void;
  /** `mark` (ASCII, at most 125 bytes) comes back in the pong. */
  ping(mark?: string): void;
  close(code: number, reason: string): void;
  terminate(): void;
  /** Bytes passed to `send` that the kernel has not accepted yet. */
  readonly bufferedAmount: number;
  readonly bytesRead: number;
}

/** Events of a {@link LinkSocket}. */
export interface LinkSocketEvents {
  onText(text: string): void;
  onBinary(): void;
  onPong(mark: string): void;
  onClosed(code: number): void;
}

/** Result of a tunnel, and why it ended. */
export interface EndedSession extends LastConnection {
  reason: string;
}

/** Opens the tunnel. `attach` runs before any message can arrive. @throws LinkError */
export interface TunnelDialer {
  dialTunnel<T extends LinkSocketEvents>(attach: (socket: LinkSocket) => T, signal: AbortSignal): Promise<T>;
}

type Method = Request['method'];
type Ok = Extract<ReplyOutcome, { ok: true }>['result'];

export interface RequestContext {
  /** Remaining time of the caller's deadline, in milliseconds. */
  timeoutMs: number;
  /** Aborts at the deadline, when the caller gives up, and when the tunnel breaks. */
  signal: AbortSignal;
  /** Sends rows before the reply, in batches; resolves when the tunnel can take more. */
  sendRows(rows: Record<string, string>[]): Promise<void>;
}

/** One handler per method. It throws AgentError; anything else is reported as `internal`. */
export type RequestHandlers = {
  [M in Method]: (
    params: Extract<Request, { method: M }>['params'],
    context: RequestContext,
  ) => Promise<Omit<Extract<Ok, { method: M }>, 'method'>>;
};

/** Handlers of the server's job messages, called one after another in the order of arrival. */
export interface JobHandlers {
  onOffer(offer: JobOffer): Promise<void>;
  onGo(jobId: string): Promise<void>;
  onAck(jobId: string): Promise<void>;
  onRevoke(jobId: string): Promise<void>;
}

/** Messages that the agent may send without a request. */
export type AgentNotice = Extract<
  AgentMessage,
  { type: 'inventory' | 'health' | 'devices' | 'forward.lost' | 'terminal.ended' | `job.${string}` }
>;
export type JobServerMessage = Extract<ServerMessage, { type: `job.${string}` }>;

/** What the link needs from the rest of the agent. */
export interface LinkHost {
  hello(): Omit<Hello, 'type' | 'versions'>;
  /**
   * Writes the epoch to disk before it settles. With `reset` it starts a new journal with a new id first.
   * @returns the journal's id and every job in it
   */
  adopt(welcome: { agentId: string; epoch: number; reset: boolean }): Promise<{ journalId: string; jobs: OpenJob[] }>;
  /** The tunnel is ready: messages can be sent. The server expects inventories now. */
  onReady(epoch: number): void;
  /** The ready tunnel is gone. */
  onDown(): void;
  /** The state of every router, for the heartbeat. */
  heartbeats(): RouterHeartbeat[];
  requests: RequestHandlers;
  jobs: JobHandlers;
  /** Dial `count` more channels for this forward. Must not block. @param to the control plane that wants them, if it is another one */
  onChannelDial(forwardId: string, count: number, to?: { token: string; url: string }): void;
  /** The window of a terminal has another size. Must not block. */
  onTerminalResize(resize: Extract<ServerMessage, { type: 'terminal.resize' }>): void;
  /** The router belongs to another agent of the team: this agent gets no requests for it until the move is approved. */
  onRouterWaiting?(router: string, reason: string): void;
  /** The control plane has revoked this agent. May be called more than once. Must not block. */
  onRevoked(): void;
}

/** What one tunnel session needs. */
export interface SessionDeps {
  host: LinkHost;
  clock: Clock;
  random: () => number;
  log: Log;
  /** Logs the end of an outage when the tunnel is ready. */
  absence: AbsenceLog;
}
