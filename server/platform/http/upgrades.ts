import { ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StreamingWebSocket, upgradeResponse } from '../../../protocol/index.ts';
import { AppError } from '../core/errors.ts';
import { hasHungUp } from '../core/hung-up.ts';
import type { App } from './app.ts';

interface Offer {
  response: ServerResponse;
  socket: Socket;
  head: Buffer;
}

/** Browsers let a page set only the subprotocols of a WebSocket, so one of them may be the session's token. */
export const BEARER_SUBPROTOCOL = 'signalbox.bearer.';

/** Interval of pings that detect vanished clients, milliseconds. */
const TCP_KEEP_ALIVE_MS = 30_000;

/**
 * Routes WebSocket upgrades through the application, so that authentication, rate limits, roles and errors work as for any
 * other request. The route then calls {@link Upgrades.accept}.
 */
export class Upgrades {
  readonly #offers = new WeakMap<IncomingMessage, Offer>();

  /** Has the application answer an upgrade request, which Node hands over without a response. */
  pass(app: App, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    // The connection carries no further HTTP.
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.on('finish', () => (socket as Socket).destroySoon());
    takeBearer(request.headers);
    this.#offers.set(request, { response, socket: socket as Socket, head });
    // Not the application itself: in front of it stands the queue that all requests pass.
    app.server.emit('request', request, response);
  }

  /**
   * Switches to a WebSocket with this subprotocol. Attach its handlers in the same event-loop turn: messages may already be buffered.
   * @throws AppError `invalid` unless the request is such a handshake, `unavailable` when its client has disconnected
   */
  accept(request: FastifyRequest, reply: FastifyReply, subprotocol: string): StreamingWebSocket {
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    const offer = this.#offers.get(request.raw);
    const answer = offered.includes(subprotocol) ? upgradeResponse(request.headers, subprotocol) : undefined;
    if (!offer || answer === undefined) throw new AppError('invalid', `this is a WebSocket with the subprotocol ${subprotocol}`);
    const { response, socket, head } = offer;
    if (hasHungUp(socket)) throw new AppError('unavailable', 'the client is gone');
    reply.hijack();
    response.detachSocket(socket);
    // Ends the request: waiting for its end must not mean waiting for the WebSocket.
    response.emit('close');
    socket.setTimeout(0);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.write(answer);
    return new StreamingWebSocket(socket, head, { role: 'server', plainMask: true });
  }
}

/** Moves the token from the subprotocols to the Authorization header, unless that is set. */
function takeBearer(headers: IncomingHttpHeaders): void {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const bearer = offered.find((name) => name.startsWith(BEARER_SUBPROTOCOL));
  if (bearer === undefined) return;
  headers['sec-websocket-protocol'] = offered.filter((name) => name !== bearer).join(', ');
  headers.authorization ??= `Bearer ${bearer.slice(BEARER_SUBPROTOCOL.length)}`;
}
