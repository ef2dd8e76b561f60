import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { ServerOptions, WebSocket } from 'ws';
import { CHANNEL_PATH, MAX_MESSAGE_BYTES, StreamingWebSocket, SUBPROTOCOL, TUNNEL_PATH, upgradeResponse } from '../../../protocol/index.ts';
import { FairShares } from '../../../runtime/fair-shares.ts';
import { adoptWithPooledReads } from '../../../runtime/pooled-reads.ts';
import type { ChannelSocket } from '../../../protocol/index.ts';
import type { Log } from '../core/log.ts';
import { networkOf } from '../core/network-of.ts';
import type { ChannelLimits, ChannelOwner } from './channel-limits.ts';
import { FailedDials } from './failed-dials.ts';
import type { TunnelRegistry } from './registry.ts';
import type { TunnelCallbacks, TunnelSocket } from './types.ts';
import { bearerOf, offersSubprotocol, refuseUpgrade, upgradePath } from './upgrade.ts';

/**
 * Upgrades whose credential is being checked; more at once are turned away until the database keeps up. Of a network, which
 * may have a whole fleet behind one address, no more than it leaves to others (1000), and 4 of whoever claims to be the same agent.
 */
export const CHECKED_DIALS = { total: 2000, perParty: 2000, perMember: 4 };

/** Agents do not fragment their messages. A library that does needs one for each 16 kB; each kept one costs 100 bytes and its memory. */
const MAX_FRAGMENTS = 128;
/** Reads of which a message that is not complete consists: one of the largest in pieces of 256 bytes. */
const MAX_BUFFERED_CHUNKS = 4096;

/** As told to an address with too many wrong credentials. */
const FAILED_DIALS_PAUSE_MS = 60_000;

/** A closing handshake the other side does not finish is cut after this long, milliseconds. */
const CLOSE_TIMEOUT_MS = 2000;

export interface GatewayOptions<C extends ChannelOwner> {
  registry: TunnelRegistry;
  authenticateAgent: TunnelCallbacks['authenticateAgent'];
  /** The forward a channel token belongs to. */
  authorizeChannel(token: string): Promise<C | undefined>;
  /** Takes a new channel over; called before any of its messages. Must not throw. */
  onChannel(context: C, socket: ChannelSocket, address: string): void;
  /** Where the request comes from; the socket's peer by default. compose.ts decides about trusted proxies. */
  clientAddress?(request: IncomingMessage): string;
  /** Upgrades of other paths; without it they get 404. */
  fallback?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** What agents may dial and hold of channels. */
  channels: ChannelLimits;
  /** Elapsed milliseconds; those of this process by default. */
  monotonic?(): number;
  log: Log;
}

/** The WebSocket door: every tunnel and channel comes in here, already authenticated when it is upgraded. */
export class TunnelGateway<C extends ChannelOwner> {
  readonly #options: GatewayOptions<C>;
  readonly #tunnels = new WebSocketServer(serverOptions(MAX_MESSAGE_BYTES));
  /** Everything upgraded and not closed yet. */
  readonly #open = new Set<WebSocket | StreamingWebSocket>();
  readonly #onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly #failedDials: FailedDials;
  #server: Server | undefined;
  /** Dials being checked: of networks, and of the agents that they say they are. */
  readonly checking = new FairShares(CHECKED_DIALS);
  #closing = false;

  constructor(options: GatewayOptions<C>) {
    this.#options = options;
    this.#failedDials = new FailedDials(() => options.monotonic?.() ?? performance.now());
    this.#onUpgrade = (request, socket, head) => this.#route(request, socket, head);
  }

  /** Takes the upgrades of this node:http or node:https server. */
  attach(server: Server): void {
    this.#server = server;
    server.on('upgrade', this.#onUpgrade);
  }

  /**
   * Takes no more, sends goaway to every agent, waits until what they said is handled, then cuts what is left,
   * channels too. The caller bounds the wait.
   */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#options.registry.close();
    await this.#closeAll();
    this.#server?.off('upgrade', this.#onUpgrade);
  }

  /** Gives the closing handshakes their time; `ws` cuts those that do not end. */
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
    } else {
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

  /** Never rejects: a failed check is an answer too. */
  async #check(request: IncomingMessage, socket: Duplex, admit: (bearer: string) => Promise<boolean>): Promise<void> {
    const bearer = bearerOf(request);
    const address = this.#address(request);
    if (bearer === undefined) {
      refuseUpgrade(socket, 401);
      return;
    }
    // A channel's token is bound to its forward and names no agent.
    const visitor = upgradePath(request) === CHANNEL_PATH ? '' : visitorOf(bearer);
    const pauseMs = this.#options.registry.pauseOf(visitor);
    if (pauseMs > 0 || this.#failedDials.isBlocked(address, visitor)) {
      refuseUpgrade(socket, 429, pauseMs > 0 ? pauseMs : FAILED_DIALS_PAUSE_MS);
      return;
    }
    const holder = { party: networkOf(address), member: visitor === '' ? undefined : visitor };
    if (!this.checking.take(holder)) {
      refuseUpgrade(socket, 503);
      return;
    }
    try {
      if (await admit(bearer)) {
        this.#failedDials.letIn(address, visitor);
      } else {
        this.#failedDials.failed(address, visitor);
        refuseUpgrade(socket, 401);
      }
    } catch (error) {
      this.#options.log.error({ err: error, source: address }, 'upgrade failed');
      refuseUpgrade(socket, 503);
    } finally {
      this.checking.giveBack(holder);
    }
  }

  async #admitTunnel(request: IncomingMessage, socket: Duplex, head: Buffer, bearer: string): Promise<boolean> {
    const identity = await this.#options.authenticateAgent(bearer);
    if (!identity) return false;
    const pauseMs = this.#options.registry.dial(identity);
    if (pauseMs > 0) {
      refuseUpgrade(socket, 429, pauseMs);
      return true;
    }
    const address = this.#address(request);
    this.#upgrade(request, socket, head, (ws) => {
      const session = this.#options.registry.open(identity, address, new WsTunnelSocket(ws, socket as Socket));
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
    });
    return true;
  }

  async #admitChannel(request: IncomingMessage, socket: Duplex, head: Buffer, token: string): Promise<boolean> {
    const context = await this.#options.authorizeChannel(token);
    if (context === undefined) return false;
    // Gone while its token was being checked: its close event has been.
    if (socket.destroyed) return true;
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
    // Not `ws`: a channel's bytes are passed on as they arrive, in buffers that are used again.
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

  /** `take` attaches its handlers before anything is awaited: messages may come in the same read as the upgrade. */
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
    // It closes by itself after an error; the close event says all that is needed.
    ws.on('error', (error: Error) => this.#options.log.debug({ err: error }, 'WebSocket error'));
  }

  #address(request: IncomingMessage): string {
    return this.#options.clientAddress?.(request) ?? request.socket.remoteAddress ?? '';
  }
}

/** The id in front of an agent's secret. */
function visitorOf(bearer: string): string {
  const colon = bearer.indexOf(':');
  return colon === -1 ? '' : bearer.slice(0, colon);
}

function serverOptions(maxPayload: number): ServerOptions & { closeTimeout: number; maxFragments: number; maxBufferedChunks: number } {
  return {
    noServer: true,
    clientTracking: false,
    // Answered by the session, which bounds what waits for an agent that pings and does not read.
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
 * A reset must never become an uncaught error, whoever else listens. Not a closure: it would keep the request of every
 * agent in memory for as long as the tunnel lives.
 */
function destroySocket(this: Duplex): void {
  this.destroy();
}

/** `ws` as the session sees it; a class, because ten thousand objects full of closures add up. */
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
