import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';

/** A TCP balancer: each connection goes to the first of its targets that accepts it, or to each in turn. */
export class Balancer {
  /** Ports of control planes, the preferred one first. */
  targets: number[];
  readonly #server: net.Server;
  readonly #isSpread: boolean;
  readonly #sockets = new Set<net.Socket>();

  private constructor(targets: number[], isSpread: boolean) {
    this.targets = targets;
    this.#isSpread = isSpread;
    this.#server = net.createServer((client) => void this.#carry(client));
  }

  /** @param spread the next connection prefers the next target */
  static async start(targets: number[], { spread = false } = {}): Promise<Balancer> {
    const balancer = new Balancer([...targets], spread);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #carry(client: net.Socket): Promise<void> {
    client.on('error', () => client.destroy());
    const targets = [...this.targets];
    if (this.#isSpread) this.targets.push(this.targets.shift()!);
    for (const port of targets) {
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
