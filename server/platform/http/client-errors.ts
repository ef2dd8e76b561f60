import { STATUS_CODES } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../core/errors.ts';
import type { DescribeError } from './error-handler.ts';

/** What Node's parser and timers call it, and what callers are told; everything else is no HTTP. */
const REASONS: Readonly<Record<string, () => AppError>> = {
  HPE_HEADER_OVERFLOW: () => new AppError('headers_too_large', 'the request line and headers are larger than 16 KiB'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: () => new AppError('too_large', 'the chunk extensions are too large'),
  ERR_HTTP_REQUEST_TIMEOUT: () => new AppError('request_timeout', 'the request did not arrive in time'),
};

/**
 * Answers requests that break off before there is a request: a line that is no HTTP, headers that are too large, a
 * client that is too slow. The connection is closed, because nobody knows where on it the next request would begin.
 */
export class ClientErrors {
  readonly #describe: (error: AppError) => ReturnType<DescribeError>;
  /** The newest answer on each connection: bytes of another one must not follow its first. */
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
