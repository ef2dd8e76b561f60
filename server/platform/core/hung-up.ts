import type { Duplex } from 'node:stream';

/**
 * Whether whoever asked for the upgrade has hung up; then closes the connection. Sockets of an HTTP server are half-open: a FIN does not
 * destroy them, they are only no longer readable, and stay until this side closes them, too. Asked before anybody reads the socket: bytes that
 * came behind the request hide a FIN, but neither agents nor browsers send any before the answer.
 */
export function hasHungUp(socket: Duplex): boolean {
  if (socket.readable) return false;
  socket.destroy();
  return true;
}
