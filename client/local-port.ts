import { once } from 'node:events';
import net from 'node:net';
import type { WebSocket } from 'ws';
import { HeldConnections } from './held-connections.ts';

export interface LocalPortOptions {
  host: string;
  /** 0 for any that is free. */
  port: number;
  /** A connection could not be carried, or was broken off. */
  onBroken: (reason: string) => void;
  /** What a person should know of all of them. */
  say: (text: string) => void;
}

/** Opens what carries one connection: see the route …/transient-forwarding/{id}/connect. */
type Connect = () => WebSocket;

/** So much waits for the line before the program at the local port is made to wait. */
const HIGH_WATER_BYTES = 256 * 1024;

const TOO_MANY_REQUESTS = 429;

const HALF_CLOSE = Buffer.alloc(0);

/** A port of this machine whose connections are carried by one WebSocket each. */
export class LocalPort {
  readonly #options: LocalPortOptions;
  readonly #server: net.Server;
  readonly #open = new Set<{ socket: net.Socket; ws: WebSocket }>();
  #connect: Connect | undefined;
  /** Programs that came before it was known where the port leads. */
  readonly #early = new Set<net.Socket>();
  readonly #held: HeldConnections;
  #total = 0;

  private constructor(options: LocalPortOptions) {
    this.#options = options;
    this.#held = new HeldConnections({ say: options.say, release: (socket) => this.#carry(socket) });
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
    for (const socket of this.#early) this.#carry(socket);
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
    this.#held.close();
    for (const socket of this.#early) socket.destroy();
    for (const { socket, ws } of this.#open) {
      socket.destroy();
      ws.terminate();
    }
  }

  #accept(socket: net.Socket): void {
    this.#total += 1;
    socket.on('error', () => undefined);
    if (this.#connect) {
      this.#carry(socket);
      return;
    }
    this.#early.add(socket);
    socket.once('close', () => this.#early.delete(socket));
  }

  #carry(socket: net.Socket): void {
    if (this.#held.isHolding) {
      this.#held.add(socket);
      return;
    }
    const ws = this.#connect!();
    const connection = { socket, ws };
    this.#open.add(connection);
    carry(socket, ws, ({ broken, comeBackMs }) => {
      this.#open.delete(connection);
      if (broken !== undefined) this.#options.onBroken(broken);
      if (comeBackMs === undefined) return;
      this.#held.holdFor(comeBackMs);
      this.#held.add(socket);
    });
  }
}

interface End {
  /** Why it was broken off, unless it has ended in good order. */
  broken?: string;
  /** It has not begun, and may be tried after so long; the socket is as it was. */
  comeBackMs?: number;
}

/** Moves bytes both ways until both directions have ended; each side waits for a slow other one. */
function carry(socket: net.Socket, ws: WebSocket, ended: (end: End) => void): void {
  let problem = '';
  let comeBackMs: number | undefined;
  ws.on('unexpected-response', (_request, { statusCode, headers }) => {
    problem = `the server answered ${statusCode}`;
    if (statusCode === TOO_MANY_REQUESTS) comeBackMs = (Number(headers['retry-after']) || 1) * 1000;
    ws.terminate();
  });
  ws.on('open', () => tie(socket, ws));
  ws.on('error', (error) => {
    problem ||= error.message;
  });
  ws.on('close', (code, reason) => {
    const hungUp = socket.destroyed;
    if (comeBackMs !== undefined && !hungUp) {
      ended({ comeBackMs });
      return;
    }
    if (code === 1000) socket.end();
    else socket.resetAndDestroy();
    ended(code === 1000 || hungUp ? {} : { broken: reason.toString() || problem || `the line broke (${code})` });
  });
}

function tie(socket: net.Socket, ws: WebSocket): void {
  ws.on('message', (data: Buffer) => {
    if (data.length === 0) socket.end();
    else if (!socket.write(data)) ws.pause();
  });
  socket.on('drain', () => ws.resume());
  socket.on('close', () => {
    // Otherwise the server has seen both ends and closes the WebSocket itself.
    if (!socket.readableEnded || !socket.writableFinished) ws.terminate();
    // It may be paused for a program that has gone.
    else ws.resume();
  });
  sendFrom(socket, ws);
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
