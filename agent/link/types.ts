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
import type { LastConnection } from './backoff.ts';

/** A WebSocket as the link's logic sees it: dialer.ts makes one from `ws`, unit tests from memory. */
export interface LinkSocket {
  /** `sent` is called when the kernel has the message or the connection is gone. */
  send(text: string, sent?: () => void): void;
  /** `mark` (ASCII, at most 125 bytes) comes back in the pong. */
  ping(mark?: string): void;
  close(code: number, reason: string): void;
  terminate(): void;
  /** Bytes handed over and not yet taken by the kernel. */
  readonly bufferedAmount: number;
  readonly bytesRead: number;
}

/** What comes from a {@link LinkSocket}. */
export interface LinkSocketEvents {
  onText(text: string): void;
  onBinary(): void;
  onPong(mark: string): void;
  onClosed(code: number): void;
}

/** How a tunnel went, and why it ended. */
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
  /** What is left of the caller's patience, milliseconds. */
  timeoutMs: number;
  /** Aborts at the deadline, when the caller gives up, and when the tunnel breaks. */
  signal: AbortSignal;
  /** Sends rows ahead of the reply, in batches; resolves when the tunnel can take more. */
  sendRows(rows: Record<string, string>[]): Promise<void>;
}

/** One handler per method. It throws AgentError; anything else is reported as `internal`. */
export type RequestHandlers = {
  [M in Method]: (
    params: Extract<Request, { method: M }>['params'],
    context: RequestContext,
  ) => Promise<Omit<Extract<Ok, { method: M }>, 'method'>>;
};

/** Job messages of the server, one after the other in the order they came. */
export interface JobHandlers {
  onOffer(offer: JobOffer): Promise<void>;
  onGo(jobId: string): Promise<void>;
  onAck(jobId: string): Promise<void>;
  onRevoke(jobId: string): Promise<void>;
}

/** What the agent may send of its own accord. */
export type AgentNotice = Extract<AgentMessage, { type: 'inventory' | 'health' | 'devices' | 'forward.lost' | `job.${string}` }>;
export type JobServerMessage = Extract<ServerMessage, { type: `job.${string}` }>;

/** What the link needs from the rest of the agent. */
export interface LinkHost {
  hello(): Omit<Hello, 'type' | 'versions'>;
  /**
   * Has the epoch on disk when it settles. With `reset` it has started a fresh journal under a new id first.
   * @returns the journal's id and every job the agent still answers for
   */
  adopt(welcome: { agentId: string; epoch: number; reset: boolean }): Promise<{ journalId: string; jobs: OpenJob[] }>;
  /** The tunnel is ready: messages can be sent from now on. Inventories are expected now. */
  onReady(epoch: number): void;
  /** The tunnel that was ready is gone. */
  onDown(): void;
  /** The state of every router, for the heartbeat. */
  heartbeats(): RouterHeartbeat[];
  requests: RequestHandlers;
  jobs: JobHandlers;
  /** Dial so many more channels for this forward. Must not wait. */
  onChannelDial(forwardId: string, count: number): void;
  /** The control plane has nothing for this router: another agent of the team has it, and the move must be approved. */
  onRouterWaiting?(router: string, reason: string): void;
  /** The control plane does not accept this agent any more. It may be told so more than once. Must not wait. */
  onRevoked(): void;
}
