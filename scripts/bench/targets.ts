import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';

/** The services that the measured paths lead to. */
export interface Targets {
  /** Swallows everything. */
  sink: number;
  /** Sends without end. */
  source: number;
  /** Sends back what it gets. */
  echo: number;
  /** Bytes the sink has swallowed so far. */
  swallowed(): number;
  close(): void;
}

const CHUNK = Buffer.alloc(64 * 1024, 'signalbox');

export async function startTargets(): Promise<Targets> {
  let swallowed = 0;
  const servers: net.Server[] = [];
  const serve = async (handle: (socket: net.Socket) => void): Promise<number> => {
    const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      handle(socket);
    });
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 });
    await once(server, 'listening');
    servers.push(server);
    return (server.address() as AddressInfo).port;
  };
  return {
    sink: await serve((socket) => {
      socket.on('data', (chunk) => (swallowed += chunk.length));
      socket.on('end', () => socket.end());
    }),
    source: await serve((socket) => pour(socket)),
    echo: await serve((socket) => socket.pipe(socket)),
    swallowed: () => swallowed,
    close: () => {
      for (const server of servers) server.close();
    },
  };
}

/** Writes as fast as the other side reads, until the socket is closed. */
export function pour(socket: net.Socket): void {
  const more = (): void => {
    while (socket.writable && socket.write(CHUNK));
  };
  socket.on('drain', more);
  more();
}
