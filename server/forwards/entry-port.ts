import net from 'node:net';

export interface EntryPortOptions {
  host: string;
  port: number;
  allows: (address: string) => boolean;
  onRefused: (address: string) => void;
  onConnection: (socket: net.Socket, source: string) => void;
}

/** Finds clients that vanished without a word. */
const TCP_KEEP_ALIVE_MS = 30_000;

/** The public port of one forward. Nothing is read of a connection before its source is known to be allowed. */
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

  /** Stops accepting. Accepted connections belong to whoever got them. */
  close(): void {
    this.#server.close();
  }

  #accept(socket: net.Socket): void {
    const address = socket.remoteAddress;
    if (address === undefined || !this.#options.allows(address)) {
      socket.on('error', () => undefined);
      socket.resetAndDestroy();
      if (address !== undefined) this.#options.onRefused(address);
      return;
    }
    this.#options.onConnection(socket, `${address.replace(/^::ffff:/, '')}:${socket.remotePort}`);
  }
}
