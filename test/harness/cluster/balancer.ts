import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';

/** A TCP balancer: each connection goes to the first of its targets that accepts it. */
export class Balancer {
  /** Ports of control planes, the preferred one first. */
  targets: number[];
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();

  private constructor(targets: number[]) {
    this.targets = targets;
    this.#server = net.createServer((client) => void this.#carry(client));
  }

  static async start(targets: number[]): Promise<Balancer> {
    const balancer = new Balancer(targets);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #carry(client: net.Socket): Promise<void> {
    client.on('error', () => client.destroy());
    for (const port of this.targets) {
      const server = await connect(port);
      if (!server) continue;
      this.#pair(client, server);
      return;
    }
    client.destroy();
  }

  #pair(client: net.Socket, server: net.Socket): void {
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}

async function connect(port: number): Promise<net.Socket | undefined> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return undefined;
  }
}
