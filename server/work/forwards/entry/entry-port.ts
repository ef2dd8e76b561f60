import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkOf } from '../../../platform/core/network-of.ts';
import { parseProxyHeader } from './names/proxy-header.ts';
import type { WaitingRoom } from './names/waiting-room.ts';

/** Where a client comes from, as far as can be known. */
export interface Source {
  address: string;
  port: number;
}

export interface EntryPortOptions {
  host: string;
  port: number;
  /** Load balancers that say by the PROXY protocol whose connection they bring; left out where there are none. */
  isProxy?: ((address: string) => boolean) | undefined;
  /** Where clients of those wait until that is known. */
  room: WaitingRoom;
  /** The team whose port it is; left out for a port of all teams. */
  teamId?: string | undefined;
  onArrival: (socket: net.Socket, source: Source) => void;
  /** A load balancer did not say whose connection it brings; the connection is broken off. */
  onNameless: (address: string, reason: string) => void;
}

/** Finds clients that vanished without a word. */
const TCP_KEEP_ALIVE_MS = 30_000;

/** A public port. Nothing is read of a connection before its source is known, except what tells the source. */
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
        // Running out of file descriptors shows here; the port lives on and accepts again later.
        entry.#server.on('error', () => undefined);
        resolve();
      });
    });
    return entry;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Stops accepting. Accepted connections belong to whoever got them. */
  close(): void {
    this.#server.close();
  }

  #accept(socket: net.Socket): void {
    const { remoteAddress: address, remotePort: port = 0 } = socket;
    if (address === undefined) breakOff(socket);
    else if (this.#options.isProxy?.(address)) this.#readSource(socket, { address, port });
    else this.#options.onArrival(socket, { address, port });
  }

  /** A load balancer that speaks for itself only looks whether the port is open: nothing is wrong, and nothing is carried. */
  #readSource(socket: net.Socket, proxy: Source): void {
    const party = this.#options.teamId ?? networkOf(proxy.address);
    this.#options.room.read(party, socket, parseProxyHeader, (told) => {
      if (!told.ok) {
        breakOff(socket);
        this.#options.onNameless(proxy.address, told.reason);
      } else if (told.value.kind === 'local') {
        socket.destroy();
      } else {
        this.#options.onArrival(socket, told.value);
      }
    });
  }
}

/** Ends a connection at once so that the client sees it. */
export function breakOff(socket: net.Socket): void {
  if (socket.listenerCount('error') === 0) socket.on('error', () => undefined);
  socket.resetAndDestroy();
}
