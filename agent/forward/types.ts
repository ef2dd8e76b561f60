import type { Duplex } from 'node:stream';
import type { ChannelSocket, Request } from '../../protocol/index.ts';
import type { Deadline } from '../routers/adapter.ts';

export type ForwardOpenParams = Extract<Request, { method: 'forward.open' }>['params'];

export interface Target {
  host: string;
  port: number;
}

export type WayName = 'direct' | 'ssh' | 'api';

/** How connections reach the target of one forward. */
export interface Way {
  readonly name: WayName;
  /** A new TCP connection to the target, with half-close. @throws AgentError */
  connect(deadline: Deadline): Promise<Duplex>;
  /**
   * The same at once, still connecting, where the way allows it: what is written waits in the stream, and failing to
   * connect is an error of the stream. Saves a turn of the event loop and a handful of objects for each connection.
   */
  connectNow?(deadline: Deadline): Duplex;
  /** Undoes what was done on the router for this forward; best effort, bounded, never rejects. */
  close(): Promise<void>;
}

/** Opens a channel to the control plane. `attach` runs before any message can arrive. Rejects when it cannot be had. */
export type DialChannel = <T>(
  token: string,
  attach: (socket: ChannelSocket) => T,
  deadline?: { timeoutMs?: number; signal?: AbortSignal },
) => Promise<T>;

/** What the agent answers when a forward is open. */
export interface OpenedForward {
  way: WayName;
  way_reason: string;
  target_reachable: boolean | null;
}
