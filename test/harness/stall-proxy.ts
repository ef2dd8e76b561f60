import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo, NetConnectOpts } from 'node:net';

/** A TCP proxy that can stop carrying bytes while both its connections stay open: a half-open line. */
export class StallProxy {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly #stranded = new WeakSet<net.Socket>();
  #stalled = false;

  private constructor(target: NetConnectOpts) {
    this.#server = net.createServer((client) => this.#pair(client, target));
  }

  /** @param target a port of the loopback, or where else to connect to */
  static async start(target: number | NetConnectOpts): Promise<StallProxy> {
    const proxy = new StallProxy(typeof target === 'number' ? { port: target, host: '127.0.0.1', noDelay: true } : target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on every byte is discarded, and no end is forwarded. */
  stall(): void {
    this.#stalled = true;
  }

  /** Existing connections carry nothing, new ones do: the far end was switched off and on. */
  strand(): void {
    for (const socket of this.#sockets) this.#stranded.add(socket);
  }

  /** New connections are carried again. */
  flow(): void {
    this.#stalled = false;
  }

  /** Resets every connection. */
  cut(): void {
    // A Unix socket has no address, and no reset.
    for (const socket of this.#sockets) {
      if (socket.remoteAddress === undefined) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pair(client: net.Socket, target: NetConnectOpts): void {
    const server = net.connect(target);
    client.setNoDelay(true);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (chunk) => {
        if (this.#stalled || this.#stranded.has(from) || to.write(chunk)) return;
        from.pause();
        to.once('drain', () => from.resume());
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        if (!this.#stalled && !this.#stranded.has(from)) to.destroy();
      });
    }
  }
}
