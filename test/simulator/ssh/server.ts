import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { SshConnection } from './connection.ts';
import { createHostKey, fingerprintOf } from './host-key.ts';
import type { SshListener, SshRouter, SshServerOptions } from './types.ts';

export type { SshListener, SshRouter, SshServerOptions } from './types.ts';
export { createHostKey, fingerprintOf } from './host-key.ts';

/** Listens for SSH clients of a router. Rejects when the port is taken or the host key is none. */
export async function startSshServer(router: SshRouter, options: SshServerOptions): Promise<SshListener> {
  const { hostKeyType, hostKeySize } = router.sshSettings;
  const hostKey = options.hostKey ?? (await createHostKey(hostKeyType, hostKeySize));
  const fingerprint = fingerprintOf(hostKey);
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const verdict = router.verdict('ssh', socket.remoteAddress ?? '');
    if (verdict === 'accept') void new SshConnection(router, socket, { ...options, hostKey });
    else if (verdict === 'reject') socket.resetAndDestroy();
  });
  const port = await listen(server, options);
  return { port, fingerprint, hostKey, close: () => close(server, sockets) };
}

function listen(server: Server, { host, port }: SshServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}
