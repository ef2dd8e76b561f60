import type net from 'node:net';

const CHUNK = Buffer.alloc(64 * 1024, 'signalbox');

/** Writes as fast as the other side reads, until the socket is closed. */
export function pour(socket: net.Socket): void {
  const more = (): void => {
    while (socket.writable && socket.write(CHUNK));
  };
  socket.on('drain', more);
  more();
}
