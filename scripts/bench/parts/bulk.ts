import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { pour } from '../pour.ts';

/** Sends endlessly to every client. A process of its own, so that this work does not delay the measurement. */
export async function startSource(): Promise<number> {
  const server = net.createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    pour(socket);
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Reads from a port as fast as it can until the process ends. */
export async function startDrain({ port }: { port: number }): Promise<void> {
  const socket = net.connect({ port, host: '127.0.0.1' });
  await once(socket, 'data');
  socket.resume();
}
