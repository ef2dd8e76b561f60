import type {
  AgentMessage,
  Devices,
  Health,
  Heartbeat,
  Inventory,
  JobDeclined,
  JobGuard,
  JobResult,
  OpenJob,
  Request,
  ServerMessage,
  TerminalEnded,
} from '../../../protocol/index.ts';
import type { EndedBy, TunnelEnd } from './tunnel-record.ts';

/**
 * The features' port to the tunnel. Features call it to reach an agent; messages of agents reach them
 * as {@link AgentEvents}, wired up in compose/wires/agent-events.ts.
 */

type RequestOf<M extends Request['method']> = Extract<Request, { method: M }>;
export type RequestParams<M extends Request['method']> = RequestOf<M>['params'];

type OkResult = Extract<Extract<AgentMessage, { type: 'reply' }>['outcome'], { ok: true }>['result'];
export type RequestResult<M extends Request['method']> = Omit<Extract<OkResult, { method: M }>, 'method'>;

export interface RequestOptions {
  /** Longest wait in milliseconds; it travels with the request as remaining time. */
  timeoutMs: number;
  signal?: AbortSignal;
  /** Receives the batches of a long reply in order. */
  onRows?: (rows: Record<string, string>[]) => void;
}

/** Messages without a reply of their own. */
export type Notice = Extract<ServerMessage, { type: `job.${string}` | 'channel.dial' | 'router.waiting' | 'terminal.resize' }>;

export interface AgentGateway {
  /**
   * Sends a request to an agent and waits for its reply.
   * @throws AppError `agent_offline` at once when it has no tunnel (nothing was sent), `outcome_unknown` when no
   *   reply arrived in time or the tunnel broke, and the reply's own error: `rejected_by_router`, `router_unreachable`, …
   */
  request<M extends Request['method']>(
    agentId: string,
    method: M,
    params: RequestParams<M>,
    options: RequestOptions,
  ): Promise<RequestResult<M>>;

  /** Sends without waiting; false when it was certainly not sent: the agent has no ready tunnel. The protocol handles loss, not the caller. */
  notify(agentId: string, message: Notice): boolean;

  /** As `notify`, for what later bytes must not overtake: settles once it was sent to the agent, or is lost. Never rejects. */
  deliver(agentId: string, message: Notice): Promise<void>;

  /** The epoch of the agent's ready tunnel on this node, undefined when it has none. */
  epoch(agentId: string): number | undefined;

  /** Whether the agent has a ready tunnel, on this node or on another one: for what people are shown. */
  isConnected(agentId: string): boolean;

  /**
   * Ends an agent's tunnel.
   * @param reason sent to the agent
   * @param endedBy for the record of the tunnel, if it differs
   */
  disconnect(agentId: string, reason: 'revoked' | 'restart', endedBy?: EndedBy): void;
}

/** One tunnel; the features receive it with every message of the agent. */
export interface AgentConnection {
  agentId: string;
  teamId: string;
  epoch: number;
  /** Source address of the tunnel, as the server sees it. */
  address: string;
  /**
   * The agent's journal could not be trusted (disk restored or wiped): the jobs it held are unknown now. It has started a
   * fresh journal, and its list of open jobs is empty.
   */
  reset: boolean;
  /** Router names in the agent's configuration, from its `hello`; absent when not reported. */
  routers?: readonly string[];
}

/**
 * Messages of agents. A returned promise is awaited before the agent's next message of that kind is handled. When the handler
 * of `ready` or of a job message rejects, the tunnel is closed, so that the agent repeats what was lost with its next `ready`;
 * other handlers must not fail.
 */
export interface AgentEvents {
  /**
   * The tunnel is ready: reconciles the agent's list of open jobs, after which new offers may follow. Until this resolves, job
   * messages of the agent wait, and offers are held back. It must not wait for requests to the same agent: the tunnel may
   * not be read while many messages wait.
   */
  onReady(connection: AgentConnection, jobs: OpenJob[]): Promise<void>;
  /** Called once after every onReady has resolved, before the onReady of the agent's next tunnel on this node. */
  onGone(connection: AgentConnection, end: TunnelEnd): void;
  onHeartbeat(connection: AgentConnection, heartbeat: Heartbeat): void;
  onInventory(connection: AgentConnection, inventory: Inventory): Promise<void>;
  /** Called at once when an inventory of this router arrives; it is handled later. */
  onInventoryArrived?(connection: AgentConnection, router: string): void;
  onJobAccepted(connection: AgentConnection, jobId: string): Promise<void>;
  onJobDeclined(connection: AgentConnection, declined: JobDeclined): Promise<void>;
  onJobBegan(connection: AgentConnection, jobId: string): Promise<void>;
  onJobEnded(connection: AgentConnection, jobId: string, result: JobResult): Promise<void>;
  onJobRefused(connection: AgentConnection, jobId: string): Promise<void>;
  onJobGuard?(connection: AgentConnection, guard: JobGuard): Promise<void>;

  onHealth?(connection: AgentConnection, health: Health): void;
  /** In the order sent, so that a delta finds the list it changes. */
  onDevices?(connection: AgentConnection, devices: Devices): Promise<void>;
  onForwardLost(connection: AgentConnection, forwardId: string, reason: string): void;
  /** The shell of a terminal is over. */
  onTerminalEnded?(connection: AgentConnection, ended: TerminalEnded): void;
}
