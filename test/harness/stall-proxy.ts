import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';

/** A TCP proxy that can stop carrying bytes while both its connections stay open: a half-open line. */
export class StallProxy {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly #stranded = new WeakSet<net.Socket>();
  #stalled = false;

  private constructor(targetPort: number) {
    this.#server = net.createServer((client) => this.#pair(client, targetPort));
  }

  static async start(targetPort: number): Promise<StallProxy> {
    const proxy = new StallProxy(targetPort);
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
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pair(client: net.Socket, targetPort: number): void {
    const server = net.connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
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
