import type { ChannelSocket } from '../../../../protocol/index.ts';
import type { Clock, Timer } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { DoorStream } from './door-stream.ts';
import type { EndedBy, Entrance } from '../types.ts';

/** Version 1 of what the door speaks: one connection, bytes as binary messages, an empty one as half-close. */
export const CONNECT_SUBPROTOCOL = 'signalbox.connect.v1';

/** Why the WebSocket of a forward ended. The codes are part of the interface (docs/forwards.md). */
export const DOOR_CLOSE: Readonly<Record<EndedBy, readonly [code: number, reason: string]>> = {
  closed: [1000, ''],
  client: [4400, 'a text message, or bytes after the half-close'],
  revoked: [4403, 'the forward or the API key was revoked'],
  expired: [4408, 'the time of the forward is over'],
  idle: [4410, 'nothing went either way for as long as the forward allows'],
  target: [4502, 'the target refused or reset the connection'],
  channel: [4503, 'the connection to the agent broke'],
  no_channel: [4504, 'the agent is away or busy'],
  shutdown: [1001, 'the server is being stopped'],
};

/** Proxies cut what is silent for a minute. The caller's key is looked at again as often. */
const PING_EVERY_MS = 25_000;

export interface DoorCaller {
  teamId: string;
  /** For the log of connections. */
  source: string;
  /** Whether the API key is still good. */
  isStillAllowed: () => Promise<boolean>;
}

/** The way into a forward without its entry port: one authenticated WebSocket for each TCP connection. */
export class ForwardDoor {
  readonly #clock: Clock;
  readonly #open = new Map<ChannelSocket, { cut: (why: EndedBy) => void; caller: DoorCaller }>();
  #emptied: (() => void) | undefined;
  #closing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws AppError `unavailable` during a shutdown */
  checkOpen(): void {
    if (this.#closing) throw new AppError('unavailable', 'the server is stopping; try again in a moment');
  }

  /** Carries a connection until one side ends it. Call it in the turn in which the WebSocket was opened. */
  carry(entrance: Entrance, ws: ChannelSocket, caller: DoorCaller): void {
    const stream = new DoorStream(ws);
    const cut = entrance.accept(stream, caller.source, (endedBy) => ws.close(...DOOR_CLOSE[endedBy]));
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

  /** Asks at once whether the callers of a team still may: somebody in it has lost a right. */
  async recheck(teamId: string): Promise<void> {
    const callers = [...this.#open.values()].filter(({ caller }) => caller.teamId === teamId);
    await Promise.all(callers.map(({ caller, cut }) => check(caller, cut)));
  }

  #watch(ws: ChannelSocket, caller: DoorCaller, cut: (why: EndedBy) => void, renew: (timer: Timer) => void): Timer {
    return this.#clock.setTimeout(() => {
      // Pings to a client that reads nothing would only pile up.
      if (ws.bufferedAmount === 0) ws.ping();
      void check(caller, cut);
      if (this.#open.has(ws)) renew(this.#watch(ws, caller, cut, renew));
    }, PING_EVERY_MS);
  }
}

/** Never rejects: while the database is away nobody is cut; the next look will say. */
async function check(caller: DoorCaller, cut: (why: EndedBy) => void): Promise<void> {
  const allowed = await caller.isStillAllowed().catch(() => true);
  if (!allowed) cut('revoked');
}
