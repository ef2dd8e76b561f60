import { STATUS_CODES } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../core/errors.ts';
import type { DescribeError } from './error-handler.ts';

/** Error codes of Node's parser and timers, and the errors sent for them; everything else is not HTTP. */
const REASONS: Readonly<Record<string, () => AppError>> = {
  HPE_HEADER_OVERFLOW: () => new AppError('headers_too_large', 'the request line and headers are larger than 16 KiB'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: () => new AppError('too_large', 'the chunk extensions are too large'),
  ERR_HTTP_REQUEST_TIMEOUT: () => new AppError('request_timeout', 'the request did not arrive in time'),
};

/**
 * Sends errors for requests that fail before they are parsed: input that is not HTTP, headers that are too large, a
 * client that is too slow. Closes the connection, because the start of the next request is unknown.
 */
export class ClientErrors {
  readonly #describe: (error: AppError) => ReturnType<DescribeError>;
  /** The newest response on each connection: an error must not follow the first bytes of another response. */
  readonly #answers = new WeakMap<Socket, ServerResponse>();

  constructor(describe: (error: AppError) => ReturnType<DescribeError>) {
    this.#describe = describe;
  }

  watch(server: Server): void {
    server.on('request', (request, response) => this.#answers.set(request.socket, response));
  }

  answer(error: NodeJS.ErrnoException, socket: Socket): void {
    const current = this.#answers.get(socket);
    const isMidAnswer = current !== undefined && current.headersSent && !current.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || isMidAnswer) {
      socket.destroy();
      return;
    }
    const known = REASONS[error.code ?? '']?.() ?? new AppError('bad_request', 'this is not an HTTP request');
    socket.end(this.#text(known), () => socket.destroy());
  }

  #text(error: AppError): string {
    const { status, type, body } = this.#describe(error);
    const headers = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `content-type: ${type}`,
      `content-length: ${Buffer.byteLength(body)}`,
      'x-content-type-options: nosniff',
      'cache-control: no-store',
      'connection: close',
    ];
    return `${headers.join('\r\n')}\r\n\r\n${body}`;
  }
}
