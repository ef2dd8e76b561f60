import type { AddressInfo } from 'node:net';
import ssh2, { type Connection, type ServerChannel } from 'ssh2';
import { createHostKey } from '../simulator/ssh/host-key.ts';

/** ssh2's own words for packets, so that a server can send what no server should. */
export interface RawProtocol {
  channelOpenConfirm(recipient: number, sender: number, window: number, packetSize: number): void;
  channelOpenFail(recipient: number, reason: number, description: string): void;
  channelSuccess(recipient: number): void;
  channelData(recipient: number, data: Buffer): void;
  channelExtData(recipient: number, data: Buffer, type: number): void;
  channelEOF(recipient: number): void;
  channelClose(recipient: number): void;
  ping(): void;
  _handlers: Record<string, ((protocol: RawProtocol, ...words: never[]) => void) | undefined>;
}

export interface HostileSshServer {
  port: number;
  close(): Promise<void>;
}

/** Logs everybody in, then does what the test says. */
export async function startHostileSshServer(serve: (connection: Connection, protocol: RawProtocol) => void): Promise<HostileSshServer> {
  const hostKey = await createHostKey('ed25519');
  const connections = new Set<Connection>();
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (connection) => {
    connections.add(connection);
    connection.on('error', () => undefined);
    connection.on('close', () => connections.delete(connection));
    connection.on('authentication', (context) => context.accept());
    connection.on('ready', () => serve(connection, (connection as unknown as { _protocol: RawProtocol })._protocol));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        for (const connection of connections) connection.end();
        server.close(() => resolve());
      }),
  };
}

/** Serves every session's exec and subsystem requests with the raw channel. */
export function onChannel(connection: Connection, serve: (channel: ServerChannel, id: number) => void): void {
  const opened = (accept: () => ServerChannel): void => {
    const channel = accept();
    channel.on('error', () => undefined);
    serve(channel, (channel as unknown as { outgoing: { id: number } }).outgoing.id);
  };
  connection.on('session', (accept) => {
    const session = accept();
    session.on('exec', (acceptExec) => opened(acceptExec));
  });
  connection.on('tcpip', (accept) => opened(accept));
}
