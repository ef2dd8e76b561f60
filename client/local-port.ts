import { once } from 'node:events';
import net from 'node:net';
import { WebSocket } from 'ws';

export interface LocalPortOptions {
  host: string;
  /** 0 for any that is free. */
  port: number;
  /** A connection could not be carried, or was broken off. */
  onBroken: (reason: string) => void;
}

/** Opens what carries one connection: see the route …/transient-forwarding/{id}/connect. */
type Connect = () => WebSocket;

/** So much waits for the line before the program at the local port is made to wait. */
const HIGH_WATER_BYTES = 256 * 1024;

const HALF_CLOSE = Buffer.alloc(0);

/** A port of this machine whose connections are carried by one WebSocket each. */
export class LocalPort {
  readonly #options: LocalPortOptions;
  readonly #server: net.Server;
  readonly #open = new Set<{ socket: net.Socket; ws: WebSocket }>();
  #connect: Connect | undefined;
  /** Programs that came before it was known where the port leads. */
  readonly #early = new Set<net.Socket>();
  #total = 0;

  private constructor(options: LocalPortOptions) {
    this.#options = options;
    this.#server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => this.#accept(socket));
  }

  /** Takes the port; see {@link leadTo}. @throws the system's error: EADDRINUSE when another program holds the port */
  static async listen(options: LocalPortOptions): Promise<LocalPort> {
    const local = new LocalPort(options);
    local.#server.listen({ host: options.host, port: options.port });
    await once(local.#server, 'listening');
    // Running out of file descriptors shows here; the port lives on.
    local.#server.on('error', (error) => options.onBroken(error.message));
    return local;
  }

  /** From here on connections are carried, also those that wait already. */
  leadTo(connect: Connect): void {
    this.#connect = connect;
    for (const socket of this.#early) this.#carry(socket, connect);
    this.#early.clear();
  }

  /** `127.0.0.1:8443`, `[::1]:8443` */
  get name(): string {
    const { host } = this.#options;
    return `${host.includes(':') ? `[${host}]` : host}:${(this.#server.address() as net.AddressInfo).port}`;
  }

  /** Connections now and since the start. */
  get counts(): { open: number; total: number } {
    return { open: this.#open.size, total: this.#total };
  }

  /** Stops listening and breaks off every connection. */
  close(): void {
    this.#server.close();
    for (const socket of this.#early) socket.destroy();
    for (const { socket, ws } of this.#open) {
      socket.destroy();
      ws.terminate();
    }
  }

  #accept(socket: net.Socket): void {
    if (this.#connect) {
      this.#carry(socket, this.#connect);
      return;
    }
    this.#early.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#early.delete(socket));
  }

  #carry(socket: net.Socket, connect: Connect): void {
    const ws = connect();
    const connection = { socket, ws };
    this.#open.add(connection);
    this.#total += 1;
    carry(socket, ws, (broken) => {
      this.#open.delete(connection);
      if (broken !== undefined) this.#options.onBroken(broken);
    });
  }
}

/** Moves bytes both ways until both directions have ended; each side waits for a slow other one. */
function carry(socket: net.Socket, ws: WebSocket, ended: (broken: string | undefined) => void): void {
  let problem = '';
  ws.on('open', () => sendFrom(socket, ws));
  ws.on('message', (data: Buffer) => {
    if (data.length === 0) socket.end();
    else if (!socket.write(data)) ws.pause();
  });
  socket.on('drain', () => ws.resume());
  socket.on('error', () => undefined);
  socket.on('close', () => {
    // Otherwise the server has seen both ends and closes the WebSocket itself.
    if (!socket.readableEnded || !socket.writableFinished) ws.terminate();
    // It may be paused for a program that has gone.
    else ws.resume();
  });
  ws.on('error', (error) => {
    problem = error.message;
  });
  ws.on('close', (code, reason) => {
    const hungUp = socket.destroyed;
    if (code === 1000) socket.end();
    else socket.resetAndDestroy();
    ended(code === 1000 || hungUp ? undefined : reason.toString() || problem || `the line broke (${code})`);
  });
}

function sendFrom(socket: net.Socket, ws: WebSocket): void {
  socket.on('data', (chunk: Buffer) => {
    ws.send(chunk, () => {
      if (ws.bufferedAmount <= HIGH_WATER_BYTES) socket.resume();
    });
    if (ws.bufferedAmount > HIGH_WATER_BYTES) socket.pause();
  });
  socket.on('end', () => ws.send(HALF_CLOSE, () => undefined));
  socket.resume();
}
