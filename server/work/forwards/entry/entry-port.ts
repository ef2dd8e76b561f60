import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkOf } from '../../../platform/core/network-of.ts';
import { parseProxyHeader } from './names/proxy-header.ts';
import type { PendingConnections } from './names/pending-connections.ts';

/** Address and port that a client connects from. */
export interface Source {
  address: string;
  port: number;
}

export interface EntryPortOptions {
  host: string;
  port: number;
  /** Whether an address is a load balancer that sends PROXY protocol headers; omitted when there are none. */
  isProxy?: ((address: string) => boolean) | undefined;
  /** Holds connections from load balancers until their header has arrived. */
  pending: PendingConnections;
  /** The team that owns the port; omitted for a port of all teams. */
  teamId?: string | undefined;
  onClient: (socket: net.Socket, source: Source) => void;
  /** A load balancer sent no valid header; the connection is reset. */
  onUnknownSource: (address: string, reason: string) => void;
}

/** Detects clients that vanished without closing the connection. */
const TCP_KEEP_ALIVE_MS = 30_000;

/** A public port. Before a connection's source is known, only the PROXY header is read from it. */
export class EntryPort {
  readonly #server: net.Server;
  readonly #options: EntryPortOptions;

  private constructor(options: EntryPortOptions) {
    this.#options = options;
    this.#server = net.createServer(
      { allowHalfOpen: true, pauseOnConnect: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS },
      (socket) => this.#accept(socket),
    );
  }

  /** @throws the system's error: EADDRINUSE when another program holds the port */
  static async listen(options: EntryPortOptions): Promise<EntryPort> {
    const entry = new EntryPort(options);
    await new Promise<void>((resolve, reject) => {
      entry.#server.once('error', reject);
      entry.#server.listen({ host: options.host, port: options.port, exclusive: true }, () => {
        entry.#server.off('error', reject);
        // For example no free file descriptors: the port stays open and accepts again later.
        entry.#server.on('error', () => undefined);
        resolve();
      });
    });
    return entry;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Stops accepting. Accepted connections stay open. */
  close(): void {
    this.#server.close();
  }

  #accept(socket: net.Socket): void {
    const { remoteAddress: address, remotePort: port = 0 } = socket;
    if (address === undefined) resetSocket(socket);
    else if (this.#options.isProxy?.(address)) this.#readSource(socket, { address, port });
    else this.#options.onClient(socket, { address, port });
  }

  /** A `local` header is a load balancer's health check: the connection is closed without a warning. */
  #readSource(socket: net.Socket, proxy: Source): void {
    const party = this.#options.teamId ?? networkOf(proxy.address);
    this.#options.pending.read(party, socket, parseProxyHeader, (outcome) => {
      if (!outcome.ok) {
        resetSocket(socket);
        this.#options.onUnknownSource(proxy.address, outcome.reason);
      } else if (outcome.value.kind === 'local') {
        socket.destroy();
      } else {
        this.#options.onClient(socket, outcome.value);
      }
    });
  }
}

/** Resets a connection, so that the client notices at once. */
export function resetSocket(socket: net.Socket): void {
  if (socket.listenerCount('error') === 0) socket.on('error', () => undefined);
  socket.resetAndDestroy();
}
