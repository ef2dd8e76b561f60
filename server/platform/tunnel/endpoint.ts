import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { ServerOptions, WebSocket } from 'ws';
import { CHANNEL_PATH, MAX_MESSAGE_BYTES, StreamingWebSocket, SUBPROTOCOL, TUNNEL_PATH, upgradeResponse } from '../../../protocol/index.ts';
import { FairShares } from '../../../runtime/fair-shares.ts';
import { adoptWithPooledReads } from '../../../runtime/pooled-reads.ts';
import type { ChannelSocket } from '../../../protocol/index.ts';
import { hasHungUp } from '../core/hung-up.ts';
import type { Log } from '../core/log.ts';
import { LoopTurns } from '../core/loop-turns.ts';
import { networkOf } from '../core/network-of.ts';
import type { ChannelLimits, ChannelOwner } from './channel-limits.ts';
import { FailedDials } from './failed-dials.ts';
import { Openings } from './openings.ts';
import type { TunnelRegistry } from './registry.ts';
import type { TunnelSession } from './session.ts';
import type { AgentIdentity, TunnelCallbacks, TunnelSocket } from './types.ts';
import { bearerOf, offersSubprotocol, refuseUpgrade, upgradePath } from './upgrade.ts';

/**
 * Upgrades whose credential is being checked or waits for that, about 10 kB each; more are refused until the database keeps up. One network,
 * which may have a whole fleet behind one address, may use at most half: about as many as may wait to be accepted (http/listen.ts), which can
 * all arrive in one turn of the event loop. One claimed agent id may use 4.
 */
export const CHECKED_DIALS = { total: 8000, perParty: 8000, perMember: 4 };

/**
 * Checks that begin in one turn of the event loop, some 60 us each. When the dials of a fleet arrived together, they were all checked or refused
 * in that turn, and a request waited 0.7 s meanwhile. With 16 in each turn, users' connections waited longer to be accepted (one in each turn).
 * Longer turns have more, so that 4,000 dials wait some 8 s on a slow machine, too: their agents give up after 15 s (protocol/SPEC.md).
 */
const CHECKS_IN_A_TURN = { least: 4, perMs: 0.5, most: 64 };

/** Agents do not fragment messages. A library that does may use one fragment per 16 kB; each buffered one costs 100 extra bytes. */
const MAX_FRAGMENTS = 128;
/** Buffered reads of an incomplete message: the largest message in pieces of 256 bytes. */
const MAX_BUFFERED_CHUNKS = 4096;

/** Retry-After for an address with too many failed authentications. */
const FAILED_DIALS_PAUSE_MS = 60_000;

/** Retry-After of a control plane that drains: the load balancer has another one. */
const DRAINING_RETRY_MS = 1000;

/** Timeout of the closing handshake, milliseconds. */
const CLOSE_TIMEOUT_MS = 2000;

export interface EndpointOptions<C extends ChannelOwner> {
  registry: TunnelRegistry;
  authenticateAgent: TunnelCallbacks['authenticateAgent'];
  /** Finds the forward of a channel token. */
  authorizeChannel(token: string): Promise<C | undefined>;
  /** Takes over a new channel; called before any of its messages. Must not throw. */
  onChannel(context: C, socket: ChannelSocket, address: string): void;
  /** The client address of a request; the socket's peer by default. The composition decides about trusted proxies. */
  clientAddress?(request: IncomingMessage): string;
  /** Handles upgrades of other paths; without it they get 404. */
  fallback?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Limits of agents' channels. */
  channels: ChannelLimits;
  /** Agents shall dial other control planes. Their channels are still accepted. */
  refusesTunnels?(): boolean;
  /** Monotonic milliseconds; those of this process by default. */
  monotonic?(): number;
  log: Log;
}

/** A request for an upgrade. */
interface Dial {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

/** The WebSocket endpoint of all tunnels and channels; authenticates each before its upgrade. */
export class TunnelEndpoint<C extends ChannelOwner> {
  readonly #options: EndpointOptions<C>;
  readonly #tunnels = new WebSocketServer(serverOptions(MAX_MESSAGE_BYTES));
  /** Everything upgraded and not closed yet. */
  readonly #open = new Set<WebSocket | StreamingWebSocket>();
  readonly #onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly #failedDials: FailedDials;
  #server: Server | undefined;
  /** Dials being checked: of networks, and of the agents that they say they are. */
  readonly checking = new FairShares(CHECKED_DIALS);
  /** Networks take turns, and in each the agents. */
  readonly #turns = new LoopTurns(CHECKS_IN_A_TURN);
  /** Tunnels that are not ready yet: of teams, and of their agents. */
  readonly openings = new Openings();
  #closing = false;

  constructor(options: EndpointOptions<C>) {
    this.#options = options;
    this.#failedDials = new FailedDials(() => options.monotonic?.() ?? performance.now());
    this.#onUpgrade = (request, socket, head) => this.#route(request, socket, head);
  }

  /** Takes the upgrades of this node:http or node:https server. */
  attach(server: Server): void {
    this.#server = server;
    server.on('upgrade', this.#onUpgrade);
    this.openings.watch(server);
  }

  /**
   * Accepts no more upgrades, sends goaway to every agent, waits until received messages are handled, then closes all
   * remaining connections, channels included. The caller bounds the wait.
   */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#options.registry.close();
    await this.#closeAll();
    this.#server?.off('upgrade', this.#onUpgrade);
  }

  /** Waits for the closing handshakes; `ws` cuts those that time out. */
  async #closeAll(): Promise<void> {
    const closed = [...this.#open].map(
      (ws) =>
        new Promise<void>((resolve) => {
          ws.once('close', () => resolve());
          ws.close(1001);
        }),
    );
    await Promise.all(closed);
  }

  #route(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', destroySocket);
    const path = upgradePath(request);
    if (path !== TUNNEL_PATH && path !== CHANNEL_PATH) {
      this.#passOn(request, socket, head);
    } else if (this.#closing || this.checking.taken >= CHECKED_DIALS.total) {
      refuseUpgrade(socket, 503);
    } else if (!offersSubprotocol(request)) {
      refuseUpgrade(socket, 400);
    } else if (path === CHANNEL_PATH || !this.#refuseInDrain(socket)) {
      void this.#check(request, socket, (bearer) =>
        path === TUNNEL_PATH ? this.#admitTunnel(request, socket, head, bearer) : this.#admitChannel(request, socket, head, bearer),
      );
    }
  }

  #passOn(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!this.#options.fallback) {
      refuseUpgrade(socket, 404);
      return;
    }
    socket.off('error', destroySocket);
    this.#options.fallback(request, socket, head);
  }

  /** Never rejects: a failed check also gets a response. */
  async #check(request: IncomingMessage, socket: Duplex, admit: (bearer: string) => Promise<boolean>): Promise<void> {
    const bearer = bearerOf(request);
    const address = this.#address(request);
    if (bearer === undefined) {
      refuseUpgrade(socket, 401);
      return;
    }
    // A channel's token is bound to its forward and names no agent.
    const claimedAgent = upgradePath(request) === CHANNEL_PATH ? '' : agentIdOf(bearer);
    if (this.#refusePaused(socket, claimedAgent) || this.#refuseBlocked(socket, address, claimedAgent)) return;
    const holder = { party: networkOf(address), member: claimedAgent === '' ? undefined : claimedAgent };
    if (!this.checking.take(holder)) {
      refuseUpgrade(socket, 503);
      return;
    }
    try {
      // Only tunnels come by the thousand, and a client waits for a channel.
      if (claimedAgent !== '') {
        await this.#turns.take(holder);
        // The checks of those before it count: else thousands that come together would all be checked.
        if (this.#isOverAfterWait(socket, claimedAgent) || this.#refuseBlocked(socket, address, claimedAgent)) return;
      }
      if (await admit(bearer)) {
        this.#failedDials.authenticated(address, claimedAgent);
      } else {
        this.#failedDials.failed(address, claimedAgent);
        refuseUpgrade(socket, 401);
      }
    } catch (error) {
      this.#options.log.error({ err: error, source: address }, 'upgrade failed');
      refuseUpgrade(socket, 503);
    } finally {
      this.checking.giveBack(holder);
    }
  }

  /** What may have come while it waited. @returns true when its agent has given up, or was refused as a dial is that comes now */
  #isOverAfterWait(socket: Duplex, agentId: string): boolean {
    return hasHungUp(socket) || this.#refuseInDrain(socket) || this.#refusePaused(socket, agentId);
  }

  /** @returns whether it was refused; so do the next two */
  #refuseInDrain(socket: Duplex): boolean {
    if (!this.#options.refusesTunnels?.()) return false;
    refuseUpgrade(socket, 503, DRAINING_RETRY_MS);
    return true;
  }

  #refusePaused(socket: Duplex, agentId: string): boolean {
    const pauseMs = this.#options.registry.pauseOf(agentId);
    if (pauseMs > 0) refuseUpgrade(socket, 429, pauseMs);
    return pauseMs > 0;
  }

  #refuseBlocked(socket: Duplex, address: string, claimedAgent: string): boolean {
    if (!this.#failedDials.isBlocked(address, claimedAgent)) return false;
    refuseUpgrade(socket, 429, FAILED_DIALS_PAUSE_MS);
    return true;
  }

  async #admitTunnel(request: IncomingMessage, socket: Duplex, head: Buffer, bearer: string): Promise<boolean> {
    const identity = await this.#options.authenticateAgent(bearer);
    if (!identity) return false;
    const pauseMs = this.#options.registry.dial(identity);
    if (pauseMs > 0) refuseUpgrade(socket, 429, pauseMs);
    // Not awaited: the dial has been checked, and many may wait.
    else void this.#openInTurn(identity, { request, socket, head });
    return true;
  }

  /** Never rejects. */
  async #openInTurn(identity: AgentIdentity, dial: Dial): Promise<void> {
    const { socket } = dial;
    const holder = { party: identity.teamId, member: identity.agentId };
    if (!(await this.openings.enter(holder))) {
      refuseUpgrade(socket, 503);
      return;
    }
    try {
      // In the same turn as the opening: a drain sends away whoever is there, and once nobody is, it does not look again.
      const session = this.#isOverAfterWait(socket, identity.agentId) ? undefined : await this.#openTunnel(identity, dial);
      await session?.opened;
    } catch (error) {
      this.#options.log.error({ err: error, agent_id: identity.agentId }, 'a tunnel could not be opened');
      socket.destroy();
    } finally {
      this.openings.leave(holder);
    }
  }

  /** @returns undefined when the request is not such a handshake, or this is closing */
  #openTunnel(identity: AgentIdentity, { request, socket, head }: Dial): Promise<TunnelSession | undefined> {
    const { promise, resolve } = Promise.withResolvers<TunnelSession | undefined>();
    const giveUp = (): void => resolve(undefined);
    socket.once('close', giveUp);
    const address = this.#address(request);
    this.#upgrade(request, socket, head, (ws) => {
      const session = this.#options.registry.open(identity, address, new WsTunnelSocket(ws, socket as Socket));
      socket.off('close', giveUp);
      socket.prependListener('data', () => session.beginRead());
      socket.on('data', (bytes: Buffer) => session.endRead(bytes.length));
      ws.on('ping', (data) => session.onPing(data));
      ws.on('pong', (data) => session.onPong(data));
      let errorCode: string | undefined;
      socket.once('error', (error: NodeJS.ErrnoException) => (errorCode = error.code));
      ws.on('message', (data, isBinary) => {
        if (isBinary) session.onBinary();
        else session.onText((data as Buffer).toString());
      });
      ws.on('close', () => session.onClosed(errorCode));
      resolve(session);
    });
    return promise;
  }

  async #admitChannel(request: IncomingMessage, socket: Duplex, head: Buffer, token: string): Promise<boolean> {
    const context = await this.#options.authorizeChannel(token);
    if (context === undefined) return false;
    // Closed while its token was being checked: its close event may have fired already.
    if (hasHungUp(socket)) return true;
    const response = upgradeResponse(request.headers);
    if (this.#closing || response === undefined) {
      refuseUpgrade(socket, this.#closing ? 503 : 400);
      return true;
    }
    const refusal = this.#options.channels.admit(context);
    if (refusal) {
      refuseUpgrade(socket, refusal.status, refusal.retryAfterMs);
      return true;
    }
    // Not `ws`: a channel's bytes are passed on as they arrive, in reused buffers.
    const early = Buffer.concat([head, (socket.read() as Buffer | null) ?? Buffer.alloc(0)]);
    const transport = adoptWithPooledReads(socket as Socket);
    transport.setNoDelay(true);
    transport.write(response);
    const channel = new StreamingWebSocket(transport, early, { role: 'server', plainMask: true });
    this.#adopt(channel);
    channel.on('close', () => this.#options.channels.closed(context));
    this.#options.onChannel(context, channel, this.#address(request));
    return true;
  }

  /** `take` attaches its handlers synchronously: messages may arrive in the same read as the upgrade. */
  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, take: (ws: WebSocket) => void): void {
    if (this.#closing) {
      refuseUpgrade(socket, 503);
      return;
    }
    this.#tunnels.handleUpgrade(request, socket, head, (ws) => {
      this.#adopt(ws);
      take(ws);
    });
  }

  #adopt(ws: WebSocket | StreamingWebSocket): void {
    this.#open.add(ws);
    ws.on('close', () => this.#open.delete(ws));
    // It closes by itself after an error; the close event is sufficient.
    ws.on('error', (error: Error) => this.#options.log.debug({ err: error }, 'WebSocket error'));
  }

  #address(request: IncomingMessage): string {
    return this.#options.clientAddress?.(request) ?? request.socket.remoteAddress ?? '';
  }
}

/** The agent id in front of the secret. */
function agentIdOf(bearer: string): string {
  const colon = bearer.indexOf(':');
  return colon === -1 ? '' : bearer.slice(0, colon);
}

function serverOptions(maxPayload: number): ServerOptions & { closeTimeout: number; maxFragments: number; maxBufferedChunks: number } {
  return {
    noServer: true,
    clientTracking: false,
    // The session answers pings, and bounds what is queued for an agent that pings and does not read.
    autoPong: false,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_BUFFERED_CHUNKS,
    perMessageDeflate: false,
    maxPayload,
    closeTimeout: CLOSE_TIMEOUT_MS,
    handleProtocols: () => SUBPROTOCOL,
  };
}

/**
 * A reset must never become an uncaught error, whatever other listeners exist. Not a closure: it would keep the request of
 * every agent in memory while its tunnel is open.
 */
function destroySocket(this: Duplex): void {
  this.destroy();
}

/** Adapts `ws` to {@link TunnelSocket}; a class, because ten thousand objects with closures take much memory. */
class WsTunnelSocket implements TunnelSocket {
  readonly #ws: WebSocket;
  readonly #transport: Socket;

  constructor(ws: WebSocket, transport: Socket) {
    this.#ws = ws;
    this.#transport = transport;
  }

  get bufferedAmount(): number {
    return this.#ws.bufferedAmount;
  }

  get bytesRead(): number {
    return this.#transport.bytesRead;
  }

  get bytesWritten(): number {
    return this.#transport.bytesWritten;
  }

  send(text: string): void {
    this.#ws.send(text);
  }

  ping(mark: Buffer): void {
    this.#ws.ping(mark);
  }

  pong(data: Buffer): void {
    this.#ws.pong(data);
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
  }

  terminate(): void {
    this.#ws.terminate();
  }

  pause(): void {
    this.#ws.pause();
  }

  resume(): void {
    this.#ws.resume();
  }
}
