import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Counters } from '../core/counters.ts';
import { networkOf } from '../core/network-of.ts';
import type { IsTrustedProxy } from './client-address.ts';

export interface QuietLimits {
  perNetwork: number;
  total: number;
}

/**
 * A connection in a TLS handshake takes 60 kB: one network can use 250 MB, and all together 1 GB. One network may have as many as
 * may wait to be accepted (listen.ts), so that such a burst of honest callers is admitted.
 */
export const QUIET_CONNECTIONS: QuietLimits = { perNetwork: 4096, total: 16_384 };

export interface QuietConnectionsDeps {
  isTrusted: IsTrustedProxy;
  counters: Pick<Counters, 'add'>;
  limits?: QuietLimits;
}

interface Quiet {
  socket: Socket;
  network: string;
}

/**
 * Limits connections without a request in progress: in the TLS handshake, in the headers, or idle between two requests. Any client
 * can open tens of thousands of them. Beyond a limit the one that has been idle longest is closed, because honest clients send
 * their request at once. WebSockets are not counted; their owners have their own limits.
 */
export class QuietConnections {
  readonly #deps: QuietConnectionsDeps;
  readonly #limits: QuietLimits;
  /** By source address and port; the one that has been idle longest is first. */
  readonly #quiet = new Map<string, Quiet>();
  /** The same for each network. */
  readonly #networks = new Map<string, Map<string, Socket>>();

  constructor(deps: QuietConnectionsDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? QUIET_CONNECTIONS;
  }

  get size(): number {
    return this.#quiet.size;
  }

  /** Before anything is listened on. */
  watch(server: Server): void {
    // Also with TLS this is the plain socket: it exists before the handshake, and later reads come from the same port.
    server.on('connection', (socket: Socket) => this.#open(socket));
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => this.#answering(request, response));
    server.prependListener('upgrade', ({ socket }: IncomingMessage) => this.#remove(nameOf(socket)));
  }

  #open(socket: Socket): void {
    // Already closed, or a connection of our own proxy, which forwards many clients.
    if (socket.remoteAddress === undefined || this.#deps.isTrusted(socket.remoteAddress, 0)) return;
    const name = nameOf(socket);
    const quiet = { socket, network: networkOf(socket.remoteAddress) };
    socket.once('close', () => this.#remove(name));
    this.#add(name, quiet);
  }

  #answering({ socket }: IncomingMessage, response: ServerResponse): void {
    const name = nameOf(socket);
    const quiet = this.#quiet.get(name);
    if (!quiet) return;
    this.#remove(name);
    response.once('close', () => {
      if (!quiet.socket.destroyed && !socket.destroyed) this.#add(name, quiet);
    });
  }

  #add(name: string, quiet: Quiet): void {
    const network = this.#networks.get(quiet.network) ?? new Map<string, Socket>();
    this.#networks.set(quiet.network, network.set(name, quiet.socket));
    this.#quiet.set(name, quiet);
    if (network.size > this.#limits.perNetwork) this.#close(network.entries().next().value!);
    else if (this.#quiet.size > this.#limits.total) {
      const [eldest, { socket }] = this.#quiet.entries().next().value!;
      this.#close([eldest, socket]);
    }
  }

  #close([name, socket]: [string, Socket]): void {
    this.#remove(name);
    this.#deps.counters.add('quiet_connections');
    socket.destroy();
  }

  #remove(name: string): void {
    const quiet = this.#quiet.get(name);
    if (!quiet) return;
    this.#quiet.delete(name);
    const network = this.#networks.get(quiet.network);
    network?.delete(name);
    if (network?.size === 0) this.#networks.delete(quiet.network);
  }
}

/** A pair of address and port is one connection to this address of ours. */
function nameOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
