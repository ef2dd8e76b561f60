import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests of one connection that may wait for their answers. Clients that people use send one; a read of 64 kB can hold 2,400, all of
 * which Node would begin in the same turn of the event loop.
 */
export const MAX_PIPELINED = 8;

/** Node's parser, as far as it is needed here. */
interface Parsed extends Socket {
  parser?: { pause(): void } | null;
}

/**
 * Cuts connections on which more requests wait for their answers than an honest client would send, and reads no further in what they
 * have sent. Call it once everything else listens to the server's requests.
 */
export function boundPipelining(server: Server): void {
  const handlers = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  const answering = new WeakMap<Socket, Set<ServerResponse>>();
  server.on('request', (request, response) => {
    const waiting = answering.get(request.socket) ?? watch(request.socket);
    answering.set(request.socket, waiting);
    if (request.socket.destroyed) return;
    if (waiting.size === MAX_PIPELINED) {
      cut(request);
      return;
    }
    waiting.add(response);
    response.once('close', () => waiting.delete(response));
    for (const handle of handlers) handle.call(server, request, response);
  });
}

/** Node tells only the first answer that its connection is gone; whoever waits for the end of another one would wait for ever. */
function watch(socket: Socket): Set<ServerResponse> {
  const waiting = new Set<ServerResponse>();
  socket.once('close', () => {
    setImmediate(() => {
      for (const response of waiting) response.emit('close');
    });
  });
  return waiting;
}

function cut({ socket }: IncomingMessage): void {
  (socket as Parsed).parser?.pause();
  socket.destroy();
}
