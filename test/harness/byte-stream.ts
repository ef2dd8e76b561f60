import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';

/** The bytes of a connection in one direction. */
export interface Summary {
  bytes: number;
  sha256: string;
}

/** Not a multiple of any buffer size on the path, so that chunk boundaries never align. */
const BLOCK = randomBytes(1_000_003);

/** Sends bytes that are unique to this connection, half-closes, and returns a summary of them. */
export async function sendBytes(socket: net.Socket, total: number): Promise<Summary> {
  const hash = createHash('sha256');
  const start = randomBytes(16);
  let left = total;
  let chunk: Buffer = start.subarray(0, Math.min(left, start.length));
  while (left > 0) {
    hash.update(chunk);
    left -= chunk.length;
    if (!socket.write(chunk) && left > 0) await once(socket, 'drain');
    chunk = BLOCK.subarray(0, Math.min(left, BLOCK.length));
  }
  socket.end();
  return { bytes: total, sha256: hash.digest('hex') };
}

/** Reads until the other side half-closes. Rejects when the connection breaks before. */
export function receiveBytes(socket: net.Socket): Promise<Summary> {
  return new Promise((resolve, reject) => {
    const hash = createHash('sha256');
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      bytes += chunk.length;
    });
    socket.once('end', () => resolve({ bytes, sha256: hash.digest('hex') }));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error(`closed after ${bytes} bytes`)));
  });
}

/** How a connection ended for the other side: an error code, `end` after a half-close, or `close` without one. */
export function endOf(socket: net.Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once('end', () => resolve('end'));
    socket.once('close', () => resolve('close'));
    socket.resume();
  });
}

/** A client that keeps half-close and does not throw. */
export function connectTo(port: number): net.Socket {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  socket.on('error', () => undefined);
  return socket;
}

/** Sends a short text, half-closes and reads the answer. Rejects when the connection breaks. */
export function ask(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTo(port);
    let answer = '';
    socket.setEncoding('latin1').on('data', (part: string) => (answer += part));
    socket.once('end', () => resolve(answer));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed without an end')));
    socket.end(text);
  });
}

/** The targets behind a router: a server on every loopback address, with its connections in order of arrival. */
export class TargetServer {
  readonly sockets: net.Socket[] = [];
  readonly #server: net.Server;

  private constructor(serve: (socket: net.Socket) => void) {
    this.#server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.sockets.splice(this.sockets.indexOf(socket), 1));
      serve(socket);
    });
  }

  static async listen(serve: (socket: net.Socket) => void): Promise<TargetServer> {
    const target = new TargetServer(serve);
    target.#server.listen(0);
    await once(target.#server, 'listening');
    return target;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}
