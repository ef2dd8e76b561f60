import { once } from 'node:events';
import http from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** How a receiver answers one request; a number is a status with an empty body. */
export type Reply = number | ((response: ServerResponse) => void);

export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Of the event in it. */
  type: string;
  /** When it came, milliseconds since 1970. */
  at: number;
}

/** Never answers. */
export const hang: Reply = () => undefined;
/** Resets the connection. */
export const cut: Reply = (response) => response.destroy();
export const redirectTo =
  (location: string, status = 302): Reply =>
  (response) =>
    response.writeHead(status, { location }).end();
export const later =
  (seconds: string, status = 503): Reply =>
  (response) =>
    response.writeHead(status, { 'retry-after': seconds }).end();

/** A third-party program at `notify_url`, well-behaved or not. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** Connections that were made, whether or not anything was asked on them. */
  connections = 0;
  url = '';
  /** Used up in order; after that every answer is {@link WebhookReceiver.reply}. */
  readonly replies: Reply[] = [];
  reply: Reply = 204;
  /** Requests being answered now, and the maximum so far. */
  open = 0;
  mostOpen = 0;
  readonly #server: http.Server | https.Server;
  readonly #sockets = new Set<Socket>();

  private constructor(tls: { cert: string; key: string } | undefined) {
    const handle = (request: IncomingMessage, response: ServerResponse): void => void this.#handle(request, response);
    this.#server = tls ? https.createServer(tls, handle) : http.createServer(handle);
    this.#server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(options: { tls?: { cert: string; key: string }; port?: number } = {}): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(options.tls);
    receiver.#server.listen(options.port ?? 0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    const { port } = receiver.#server.address() as AddressInfo;
    receiver.url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
    return receiver;
  }

  /** The kinds of event in the order of their requests: `loaded running completed`. */
  get types(): string {
    return this.received.map((request) => request.type.replace('job.', '')).join(' ');
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = Date.now();
    this.open += 1;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    response.on('close', () => (this.open -= 1));
    const body = await text(request).catch(() => '');
    const { type } = (body === '' ? {} : JSON.parse(body)) as { type?: string };
    this.received.push({ path: request.url ?? '', headers: request.headers as Record<string, string>, body, type: type ?? '', at });
    const reply = this.replies.shift() ?? this.reply;
    if (typeof reply === 'number') response.writeHead(reply).end();
    else reply(response);
  }
}
