import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { BenchProcess } from './processes.ts';

/** The services that the measured paths lead to. */
export interface Targets {
  /** Discards everything. */
  sink: number;
  /** Sends endlessly. */
  source: number;
  /** Echoes. */
  echo: number;
  /** Bytes the sink has received so far. */
  swallowed(): number;
  close(): void;
}

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
  const source = await BenchProcess.start<number>('source', {});
  return {
    sink: await serve((socket) => {
      socket.on('data', (chunk) => (swallowed += chunk.length));
      socket.on('end', () => socket.end());
    }),
    source: source.result,
    echo: await serve((socket) => socket.pipe(socket)),
    swallowed: () => swallowed,
    close: () => {
      for (const server of servers) server.close();
      void source.process.stop();
    },
  };
}
