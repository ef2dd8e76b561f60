import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Pipelined requests allowed on one connection. Common clients send one; a read of 64 kB can contain 2,400, all of which Node
 * would start in the same event-loop turn.
 */
export const MAX_PIPELINED = 8;

/** Node's parser, as far as it is needed here. */
interface Parsed extends Socket {
  parser?: { pause(): void } | null;
}

/**
 * Closes connections with more pipelined requests than an honest client sends, and discards the rest of their input. Call it
 * after all other request listeners are attached to the server.
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

/** Node signals a closed connection only to the first response; listeners of the others would wait forever. */
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
