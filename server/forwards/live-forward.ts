import type { ChannelConnection, ChannelSocket, ConnectionEnd } from '../../protocol/index.ts';
import type { Clock, Timer } from '../core/clock.ts';
import { ChannelPool } from './channel-pool.ts';
import { EntryPort } from './entry-port.ts';
import type { ForwardLimits } from './limits.ts';
import { sourceMatcher } from './policy.ts';
import type { ClientStream, ConnectionSummary, EndedBy, Entrance } from './types.ts';

export interface LiveForwardOptions {
  id: string;
  teamId: string;
  routerId: string;
  allowOnlyCidr: string;
  expiresAt: number;
  clock: Clock;
  limits: ForwardLimits;
  dial: (count: number) => boolean;
  onConnectionClosed: (summary: ConnectionSummary) => void;
  onRefused: (source: string) => void;
  onExpired: () => void;
}

const END_WORDS: Record<ConnectionEnd, EndedBy> = {
  finished: 'closed',
  local_reset: 'client',
  peer_reset: 'target',
  channel_lost: 'channel',
  cut: 'revoked',
};

/** One open forward on this node: its entry port, its channels and the connections between them. */
export class LiveForward implements Entrance {
  readonly id: string;
  readonly teamId: string;
  readonly routerId: string;
  readonly expiresAt: number;
  /** The agent behind which the router stands, and the SHA-256 of the token its channels must show. */
  agentId = '';
  tokenHash = '';
  /** The epoch of the tunnel on which the agent was last asked to open the way. */
  askedInEpoch: number | undefined;
  /** Asks the agent again. */
  retryTimer: Timer | undefined;
  /** Tries to open the port again. */
  listenTimer: Timer | undefined;
  readonly pool: ChannelPool;
  readonly #options: LiveForwardOptions;
  readonly #allows: (address: string) => boolean;
  readonly #connections = new Set<ClientConnection>();
  #entry: EntryPort | undefined;
  #expiry: Timer | undefined;
  /** Why it is over, once it is. */
  #ended: EndedBy | undefined;
  readonly #drained = Promise.withResolvers<void>();

  constructor(options: LiveForwardOptions) {
    this.#options = options;
    this.id = options.id;
    this.teamId = options.teamId;
    this.routerId = options.routerId;
    this.expiresAt = options.expiresAt;
    this.#allows = sourceMatcher(options.allowOnlyCidr);
    this.pool = new ChannelPool({ clock: options.clock, limits: options.limits, dial: options.dial });
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  get full(): boolean {
    return this.#connections.size >= this.#options.limits.connections;
  }

  /** @throws the system's error: EADDRINUSE when another program holds the port */
  async listen(host: string, port: number): Promise<void> {
    const entry = await EntryPort.listen({
      host,
      port,
      allows: this.#allows,
      onRefused: this.#options.onRefused,
      onConnection: (socket, source) => {
        this.accept(socket, source);
      },
    });
    // It may have been revoked, or its time may have passed, while the port was being opened.
    if (this.#ended) entry.close();
    else this.#entry = entry;
  }

  /** From here on it ends by itself. */
  startExpiry(): void {
    const left = this.expiresAt - this.#options.clock.now();
    this.#expiry = this.#options.clock.setTimeout(this.#options.onExpired, left);
  }

  addChannel(socket: ChannelSocket): void {
    this.pool.add(socket);
  }

  /** Closes the port and cuts every connection at once. Resolves when the last of them has been reported. */
  end(why: EndedBy): Promise<void> {
    if (this.#ended === undefined) {
      this.#ended = why;
      this.#expiry?.cancel();
      this.retryTimer?.cancel();
      this.listenTimer?.cancel();
      this.#entry?.close();
      for (const connection of this.#connections) connection.cut(why);
      this.pool.close(why);
      if (this.#connections.size === 0) this.#drained.resolve();
    }
    return this.#drained.promise;
  }

  /** Whoever calls it has checked where the connection comes from. */
  accept(socket: ClientStream, source: string, ended?: (endedBy: EndedBy) => void): (why: EndedBy) => void {
    if (this.#ended || this.full) {
      socket.on('error', () => undefined);
      socket.once('close', () => ended?.(this.#ended ?? 'no_channel'));
      socket.resetAndDestroy();
      return () => undefined;
    }
    const client = new ClientConnection(socket, source, this.#options.clock.now());
    this.#connections.add(client);
    client.start(this.pool, (endedBy) => {
      this.#connections.delete(client);
      this.#options.onConnectionClosed({
        source: client.source,
        openedAt: client.openedAt,
        closedAt: this.#options.clock.now(),
        bytesIn: client.bytesIn,
        bytesOut: client.bytesOut,
        endedBy,
      });
      ended?.(endedBy);
      if (this.#ended && this.#connections.size === 0) this.#drained.resolve();
    });
    return (why) => client.cut(why);
  }
}

/** One accepted client: waits for a channel, then is carried by it. */
class ClientConnection {
  readonly openedAt: number;
  readonly #socket: ClientStream;
  readonly source: string;
  #connection: ChannelConnection | undefined;
  #cutBecause: EndedBy | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(socket: ClientStream, source: string, openedAt: number) {
    this.#socket = socket;
    this.source = source;
    this.openedAt = openedAt;
  }

  get bytesIn(): number {
    return this.#connection?.bytesSent ?? 0;
  }

  get bytesOut(): number {
    return this.#connection?.bytesReceived ?? 0;
  }

  start(pool: ChannelPool, closed: (endedBy: EndedBy) => void): void {
    const gone = (): void => {
      pool.cancel(waiter);
      closed(this.#cutBecause ?? 'client');
    };
    const waiter = {
      ready: (connection: ChannelConnection): void => {
        this.#socket.off('close', gone);
        this.#connection = connection;
        connection.whenClosed((end) => closed(end === 'cut' ? (this.#cutBecause ?? 'revoked') : END_WORDS[end]));
        connection.attach(this.#socket);
      },
      gaveUp: (): void => {
        this.#cutBecause ??= 'no_channel';
        this.#socket.resetAndDestroy();
      },
    };
    this.#socket.on('error', () => undefined);
    this.#socket.once('close', gone);
    this.#stopWaiting = () => pool.cancel(waiter);
    pool.request(waiter);
  }

  cut(why: EndedBy): void {
    this.#cutBecause ??= why;
    this.#stopWaiting?.();
    if (this.#connection) this.#connection.cut(why);
    else this.#socket.resetAndDestroy();
  }
}
