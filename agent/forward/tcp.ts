import net from 'node:net';
import { onExpiry } from '../core/deadline.ts';
import { AgentError } from '../core/errors.ts';
import type { Deadline } from '../routers/adapter.ts';
import type { Target } from './types.ts';

/** Finds targets that vanished without a word. */
const TCP_KEEP_ALIVE_MS = 30_000;

/**
 * A TCP connection that keeps half-close. It is handed out while it is still connecting: what is written waits in it,
 * and failing to connect by the deadline destroys it with an error.
 */
export function connectTcp({ host, port }: Target, deadline: Deadline): net.Socket {
  const socket = net.connect({ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS });
  const endWait = onExpiry(deadline, (reason) => socket.destroy(new AgentError('rejected', `${host}:${port}: ${reason}`)));
  socket.once('connect', endWait);
  socket.once('close', endWait);
  return socket;
}

/** The same once it is connected. @throws AgentError `rejected` */
export function connectedTcp(target: Target, deadline: Deadline): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(target, deadline);
    socket.once('connect', () => resolve(socket));
    socket.once('error', (error) => {
      reject(error instanceof AgentError ? error : new AgentError('rejected', error.message, { cause: error }));
    });
  });
}

/** Does anything accept connections there? Never rejects. */
export function answersTcp(target: Target, deadline: Deadline): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp(target, deadline);
    socket.once('connect', () => {
      resolve(true);
      // Not a reset: the service would log it as an error.
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
