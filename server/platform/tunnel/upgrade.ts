import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { SUBPROTOCOL } from '../../../protocol/index.ts';

/** Why an upgrade is refused; the body is one line for the person who reads the agent's log. */
const REFUSALS = {
  400: ['Bad Request', `the subprotocol must be ${SUBPROTOCOL}`],
  401: ['Unauthorized', 'the credential is missing or not good'],
  404: ['Not Found', 'nothing here speaks WebSocket'],
  429: ['Too Many Requests', 'too many wrong credentials came from this address, or too much from this agent; try again later'],
  503: ['Service Unavailable', 'cannot serve just now'],
} as const;

export type Refusal = keyof typeof REFUSALS;

/** When it is worth trying again, unless the caller knows better, milliseconds. */
const RETRY_AFTER_MS: Partial<Record<Refusal, number>> = { 503: 5000 };

/** Answers an upgrade request with an HTTP error and closes the connection. */
export function refuseUpgrade(socket: Duplex, status: Refusal, retryAfterMs = RETRY_AFTER_MS[status]): void {
  const [phrase, text] = REFUSALS[status];
  const body = `${text}\n`;
  const headers = [
    `HTTP/1.1 ${status} ${phrase}`,
    'Connection: close',
    'Content-Type: text/plain',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(status === 401 ? ['WWW-Authenticate: Bearer'] : []),
    ...(retryAfterMs === undefined ? [] : [`Retry-After: ${Math.ceil(retryAfterMs / 1000)}`]),
  ];
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Path of the request without its query. */
export function upgradePath(request: IncomingMessage): string {
  const url = request.url ?? '';
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** What follows `Bearer `, undefined when the header is missing, of another kind or unreasonably long. */
export function bearerOf(request: IncomingMessage): string | undefined {
  return /^Bearer +(\S{1,1024}) *$/i.exec(request.headers.authorization ?? '')?.[1];
}

export function offersSubprotocol(request: IncomingMessage): boolean {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',');
  return offered.some((name) => name.trim() === SUBPROTOCOL);
}
