import { once } from 'node:events';
import net from 'node:net';
import type { WebSocket } from 'ws';
import { HeldConnections } from './held-connections.ts';

export interface LocalPortOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** Called when a connection failed or broke. */
  onBroken: (reason: string) => void;
  /** Prints a message for the user. */
  print: (text: string) => void;
}

/** Opens the WebSocket of one connection: route …/transient-forwarding/{id}/connect. */
type Connect = () => WebSocket;

/** Bytes buffered towards the server before reading from the local program pauses. */
const HIGH_WATER_BYTES = 256 * 1024;

const TOO_MANY_REQUESTS = 429;

const HALF_CLOSE = Buffer.alloc(0);

/** A local port that carries each connection over a WebSocket of its own. */
export class LocalPort {
  readonly #options: LocalPortOptions;
  readonly #server: net.Server;
  readonly #open = new Set<{ socket: net.Socket; ws: WebSocket }>();
  #connect: Connect | undefined;
  /** Connections that arrived before the forward was open. */
  readonly #early = new Set<net.Socket>();
  readonly #held: HeldConnections;
  #total = 0;

  private constructor(options: LocalPortOptions) {
    this.#options = options;
    this.#held = new HeldConnections({ print: options.print, release: (socket) => this.#carry(socket) });
    this.#server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => this.#accept(socket));
  }

  /** Opens the port; see {@link leadTo}. @throws the system's error: EADDRINUSE when another program uses the port */
  static async listen(options: LocalPortOptions): Promise<LocalPort> {
    const local = new LocalPort(options);
    local.#server.listen({ host: options.host, port: options.port });
    await once(local.#server, 'listening');
    // For example when file descriptors run out; the port stays open.
    local.#server.on('error', (error) => options.onBroken(error.message));
    return local;
  }

  /** Starts to carry connections, including those that already wait. */
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

  /** Connections open now, and since the start. */
  get counts(): { open: number; total: number } {
    return { open: this.#open.size, total: this.#total };
  }

  /** Stops listening and closes every connection. */
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
    carry(socket, ws, ({ broken, retryAfterMs }) => {
      this.#open.delete(connection);
      if (broken !== undefined) this.#options.onBroken(broken);
      if (retryAfterMs === undefined) return;
      this.#held.holdFor(retryAfterMs);
      this.#held.add(socket);
    });
  }
}

interface End {
  /** Why the connection broke; undefined after an orderly end. */
  broken?: string;
  /** The server asks to retry after this time; nothing was read from the socket. */
  retryAfterMs?: number;
}

/** Moves bytes both ways until both directions have ended, with back-pressure in both. */
function carry(socket: net.Socket, ws: WebSocket, ended: (end: End) => void): void {
  let problem = '';
  let retryAfterMs: number | undefined;
  ws.on('unexpected-response', (_request, { statusCode, headers }) => {
    problem = `the server answered ${statusCode}`;
    if (statusCode === TOO_MANY_REQUESTS) retryAfterMs = (Number(headers['retry-after']) || 1) * 1000;
    ws.terminate();
  });
  ws.on('open', () => pipeBoth(socket, ws));
  ws.on('error', (error) => {
    problem ||= error.message;
  });
  ws.on('close', (code, reason) => {
    const hungUp = socket.destroyed;
    if (retryAfterMs !== undefined && !hungUp) {
      ended({ retryAfterMs });
      return;
    }
    if (code === 1000) socket.end();
    else socket.resetAndDestroy();
    ended(code === 1000 || hungUp ? {} : { broken: reason.toString() || problem || `the connection to the server broke (${code})` });
  });
}

function pipeBoth(socket: net.Socket, ws: WebSocket): void {
  ws.on('message', (data: Buffer) => {
    if (data.length === 0) socket.end();
    else if (!socket.write(data)) ws.pause();
  });
  socket.on('drain', () => ws.resume());
  socket.on('close', () => {
    // In an orderly end the server has seen both directions end and closes the WebSocket itself.
    if (!socket.readableEnded || !socket.writableFinished) ws.terminate();
    // It may still be paused for the program that has closed.
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
