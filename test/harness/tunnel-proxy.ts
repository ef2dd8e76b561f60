import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';

/** When a message is seen, and whether it is still delivered. */
export interface Watch {
  direction: 'to-server' | 'to-agent';
  /** Text inside the message, for example `"type":"job.accepted"`. Loopback tunnels are not masked. */
  text: string;
  /** `before`: the message is swallowed with everything after it on that connection; `after`: it is passed on first. */
  when: 'before' | 'after';
}

/**
 * A TCP proxy between agent and control plane that reports when a certain message passes, so that a test can kill one
 * end exactly there. It knows nothing of WebSocket: it looks for the message's text in the stream.
 */
export class TunnelProxy {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  #target: number;
  #watch: { watch: Watch; seen: PromiseWithResolvers<void> } | undefined;

  private constructor(targetPort: number) {
    this.#target = targetPort;
    this.#server = net.createServer((client) => this.#pair(client));
  }

  static async start(targetPort: number): Promise<TunnelProxy> {
    const proxy = new TunnelProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when the message has been seen. One watch at a time. */
  watch(watch: Watch): Promise<void> {
    const seen = Promise.withResolvers<void>();
    this.#watch = { watch, seen };
    return seen.promise;
  }

  /** Cuts every connection through the proxy. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pair(client: net.Socket): void {
    const server = net.connect({ port: this.#target, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
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
    }
    this.#carry(client, server, 'to-server');
    this.#carry(server, client, 'to-agent');
  }

  #carry(from: net.Socket, to: net.Socket, direction: Watch['direction']): void {
    let tail = '';
    let swallowed = false;
    from.on('data', (chunk: Buffer) => {
      if (swallowed) return;
      const active = this.#watch;
      if (active?.watch.direction !== direction) {
        to.write(chunk);
        return;
      }
      const seen = tail + chunk.toString('latin1');
      tail = seen.slice(-active.watch.text.length);
      if (!seen.includes(active.watch.text)) {
        to.write(chunk);
        return;
      }
      this.#watch = undefined;
      swallowed = active.watch.when === 'before';
      if (!swallowed) to.write(chunk);
      active.seen.resolve();
    });
  }
}
