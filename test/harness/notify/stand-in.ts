import { once } from 'node:events';
import http from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Check, ProviderRequest } from './providers.ts';

/** How a provider answers. */
export type ProviderReply = { status: number; body?: string | object; headers?: Record<string, string> } | 'hang' | 'cut';

/** The same for every request, or by what it asks. */
type Replying = ProviderReply | ((request: ProviderRequest) => ProviderReply | Promise<ProviderReply>);

/** A provider on a loopback port. It answers as the real one: 400 to what that would refuse, otherwise what the test says. */
export class ProviderStandIn {
  readonly requests: ProviderRequest[] = [];
  /** What was wrong with any request. */
  readonly problems: string[] = [];
  /** Used up in order, then {@link ProviderStandIn.reply}. */
  readonly replies: ProviderReply[] = [];
  reply: Replying;
  url = '';
  readonly #check: Check;
  readonly #server: http.Server;
  readonly #sockets = new Set<Socket>();

  private constructor(check: Check, reply: Replying) {
    this.#check = check;
    this.reply = reply;
    this.#server = http.createServer((request, response) => void this.#handle(request, response));
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** @param accepted what it answers to a request that it takes */
  static async start(check: Check, accepted: Replying): Promise<ProviderStandIn> {
    const standIn = new ProviderStandIn(check, accepted);
    standIn.#server.listen(0, '127.0.0.1');
    await once(standIn.#server, 'listening');
    standIn.url = `http://127.0.0.1:${(standIn.#server.address() as AddressInfo).port}`;
    return standIn;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  async #replyTo(request: ProviderRequest): Promise<ProviderReply> {
    const next = this.replies.shift();
    if (next !== undefined) return next;
    return typeof this.reply === 'function' ? this.reply(request) : this.reply;
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming).catch(() => Buffer.alloc(0));
    const request = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers as Record<string, string>, body };
    this.requests.push(request);
    const problems = request.method === 'POST' ? this.#check(request) : ['method'];
    this.problems.push(...problems);
    const reply = problems.length > 0 ? { status: 400, body: problems.join('; ') } : await this.#replyTo(request);
    if (reply === 'hang') return;
    if (reply === 'cut') {
      response.destroy();
      return;
    }
    const { status, body: said = '', headers } = reply;
    response.writeHead(status, headers).end(typeof said === 'string' ? said : JSON.stringify(said));
  }
}
