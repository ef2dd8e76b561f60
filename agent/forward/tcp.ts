import net from 'node:net';
import { onExpiry } from '../core/deadline.ts';
import { AgentError } from '../core/errors.ts';
import type { Deadline } from '../routers/adapter.ts';
import type { Target } from './types.ts';

/** Detects targets that disappeared without closing the connection. */
const TCP_KEEP_ALIVE_MS = 30_000;

/**
 * A TCP connection with half-close. Returned while it is still connecting: written bytes wait in it, and a failure to connect by the
 * deadline destroys it with an error.
 */
export function connectTcp({ host, port }: Target, deadline: Deadline): net.Socket {
  const socket = net.connect({ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS });
  const endWait = onExpiry(deadline, (reason) => socket.destroy(new AgentError('rejected', `${host}:${port}: ${reason}`)));
  socket.once('connect', endWait);
  socket.once('close', endWait);
  return socket;
}

/** Resolves to the same socket once it is connected. @throws AgentError `rejected` */
export function connectedTcp(target: Target, deadline: Deadline): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(target, deadline);
    socket.once('connect', () => resolve(socket));
    socket.once('error', (error) => {
      reject(error instanceof AgentError ? error : new AgentError('rejected', error.message, { cause: error }));
    });
  });
}

/** Whether the target accepts connections. Never rejects. */
export function answersTcp(target: Target, deadline: Deadline): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp(target, deadline);
    socket.once('connect', () => {
      resolve(true);
      // No reset, which the service would log as an error.
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
