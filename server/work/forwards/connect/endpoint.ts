import type { ChannelSocket } from '../../../../protocol/index.ts';
import type { Clock, Timer } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { WebSocketStream } from './web-socket-stream.ts';
import type { EndedBy, ConnectionAcceptor } from '../types.ts';

/** Version 1 of the subprotocol: one connection, bytes as binary messages, an empty message as half-close. */
export const CONNECT_SUBPROTOCOL = 'signalbox.connect.v1';

/** Close codes of a forward's WebSocket. They are part of the interface (docs/forwards.md). */
export const CONNECT_CLOSE: Readonly<Record<EndedBy, readonly [code: number, reason: string]>> = {
  closed: [1000, ''],
  client: [4400, 'a text message, or bytes after the half-close'],
  revoked: [4403, 'the forward or the API key was revoked'],
  // Only clients of the entry port are admitted by their address.
  source: [4403, 'the forward or the API key was revoked'],
  expired: [4408, 'the forward has expired'],
  idle: [4410, 'the connection was idle for longer than the forward allows'],
  target: [4502, 'the target refused or reset the connection'],
  channel: [4503, 'the connection to the agent broke'],
  no_channel: [4504, 'the agent is offline or busy'],
  node_lost: [1001, 'the server is cut off'],
  shutdown: [1001, 'the server is being stopped'],
};

/** Proxies cut connections that are silent for a minute. The caller's key is checked again at the same interval. */
const PING_EVERY_MS = 25_000;

export interface ConnectCaller {
  teamId: string;
  /** Address in the log of connections. */
  source: string;
  /** Whether the caller's credential is still valid for this. */
  isStillAllowed: () => Promise<boolean>;
}

/** Carries connections to forwards over authenticated WebSockets, one for each TCP connection, without the entry port. */
export class ConnectEndpoint {
  readonly #clock: Clock;
  readonly #open = new Map<ChannelSocket, { cut: (why: EndedBy) => void; caller: ConnectCaller }>();
  #emptied: (() => void) | undefined;
  #closing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws AppError `unavailable` during a shutdown */
  checkOpen(): void {
    if (this.#closing) throw new AppError('unavailable', 'the server is stopping; try again in a moment');
  }

  /** Carries a connection until one side ends it. Call it in the same turn of the event loop in which the WebSocket opened. */
  carry(acceptor: ConnectionAcceptor, ws: ChannelSocket, caller: ConnectCaller): void {
    const stream = new WebSocketStream(ws);
    const cut = acceptor.accept(stream, caller.source, (endedBy) => ws.close(...CONNECT_CLOSE[endedBy]));
    this.#open.set(ws, { cut, caller });
    let timer = this.#watch(ws, caller, cut, (next) => {
      timer = next;
    });
    ws.on('close', () => {
      timer.cancel();
      this.#open.delete(ws);
      if (this.#open.size === 0) this.#emptied?.();
    });
  }

  /** Ends every connection; resolves when the last WebSocket is closed, which takes two seconds at most. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#open.size === 0) return;
    const emptied = new Promise<void>((resolve) => {
      this.#emptied = resolve;
    });
    for (const { cut } of this.#open.values()) cut('shutdown');
    await emptied;
  }

  /** Checks at once whether the callers of a team still have the right to connect: a member of the team has lost a right. */
  async recheck(teamId: string): Promise<void> {
    const callers = [...this.#open.values()].filter(({ caller }) => caller.teamId === teamId);
    await Promise.all(callers.map(({ caller, cut }) => check(caller, cut)));
  }

  #watch(ws: ChannelSocket, caller: ConnectCaller, cut: (why: EndedBy) => void, renew: (timer: Timer) => void): Timer {
    return this.#clock.setTimeout(() => {
      // Pings to a client that does not read would only pile up.
      if (ws.bufferedAmount === 0) ws.ping();
      void check(caller, cut);
      if (this.#open.has(ws)) renew(this.#watch(ws, caller, cut, renew));
    }, PING_EVERY_MS);
  }
}

/** Never rejects: while the database is unavailable no connection is cut; the next check decides. */
async function check(caller: ConnectCaller, cut: (why: EndedBy) => void): Promise<void> {
  const allowed = await caller.isStillAllowed().catch(() => true);
  if (!allowed) cut('revoked');
}
