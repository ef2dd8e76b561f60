import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';

export interface Traffic {
  /** Bytes from the client to the target. */
  up: number;
  down: number;
}

/** Relays between an agent and the control plane and counts the bytes. */
export class CountingRelay {
  readonly port: number;
  readonly #server: net.Server;
  readonly #sockets: Set<net.Socket>;
  readonly #traffic: Traffic;

  private constructor(server: net.Server, sockets: Set<net.Socket>, traffic: Traffic) {
    this.#server = server;
    this.#sockets = sockets;
    this.#traffic = traffic;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start(target: number): Promise<CountingRelay> {
    const sockets = new Set<net.Socket>();
    const traffic = { up: 0, down: 0 };
    const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
      const far = net.connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      near.on('data', (chunk) => (traffic.up += chunk.length)).pipe(far);
      far.on('data', (chunk) => (traffic.down += chunk.length)).pipe(near);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(socket);
        socket.on('error', () => other.destroy()).on('close', () => sockets.delete(socket));
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CountingRelay(server, sockets, traffic);
  }

  /** So far. */
  get traffic(): Traffic {
    return { ...this.#traffic };
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
