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
   * Like `connect`, but returns a stream that is still connecting, where the way supports it: written bytes wait in the stream, and
   * a failure is an error of the stream. Saves a turn of the event loop and some objects for each connection.
   */
  connectNow?(deadline: Deadline): Duplex;
  /**
   * The forward now ends after `expiresInMs`: what the router would undo by itself follows. Open connections are not touched.
   * @throws AgentError; the router then still has the former time, and the next call tries again
   */
  renew(expiresInMs: number, deadline: Deadline): Promise<void>;
  /** Removes what the forward needed from the router: best effort, bounded, never rejects. */
  close(): Promise<void>;
}

/**
 * Opens a channel to a control plane. `attach` runs before any message can arrive. Rejects when it fails.
 * @param options `url`: its address, of several control planes; the agent's own unless given
 */
export type DialChannel = <T>(
  token: string,
  attach: (socket: ChannelSocket) => T,
  options?: { timeoutMs?: number; signal?: AbortSignal; url?: string | undefined },
) => Promise<T>;

/** The control plane that wants channels, and its token for them. */
export interface ChannelEnd {
  token: string;
  /** Its address, of several control planes; undefined for the agent's own server. */
  url: string | undefined;
}

/** The agent's answer when a forward is open. */
export interface OpenedForward {
  way: WayName;
  way_reason: string;
  target_reachable: boolean | null;
  /** Agent and router go by the time of this request, also if the forward was open before. */
  renewed: true;
}
