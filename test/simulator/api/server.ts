import { X509Certificate } from 'node:crypto';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { SimulatedRouter } from '../router.ts';
import type { ServiceName } from '../sessions.ts';
import { ApiSession } from './session.ts';

export interface ApiListener {
  readonly port: number;
  close(): Promise<void>;
}

export interface Certificate {
  cert: string;
  key: string;
}

export interface ApiListenOptions {
  host: string;
  port: number;
  /** Present: api-ssl. Without a certificate only anonymous DH is offered. */
  tls?: { certificate: Certificate | undefined };
}

/** Listens for API clients and makes a session of every connection the router admits. Rejects when the port is taken. */
export async function startApiServer(router: SimulatedRouter, options: ApiListenOptions): Promise<ApiListener> {
  const service: ServiceName = options.tls ? 'api-ssl' : 'api';
  const sockets = new Set<Socket>();
  const begin = options.tls
    ? tlsSessions(router, options.tls.certificate)
    : (socket: Socket) => void new ApiSession(router, socket, service);
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Every socket has a listener for its errors before anything else happens to it.
    socket.on('error', () => socket.destroy());
    const verdict = router.verdict(service, socket.remoteAddress ?? '');
    if (verdict === 'accept') begin(socket);
    // A dropped client hangs: the kernel has accepted it, but it never gets an answer.
    else if (verdict === 'reject') socket.resetAndDestroy();
  });
  const port = await listen(server, options);
  return { port, close: () => close(server, sockets) };
}

/** The TLS server never listens itself: admitted sockets are handed to it. */
function tlsSessions(router: SimulatedRouter, certificate: Certificate | undefined): (socket: Socket) => void {
  const anonymous = { ciphers: 'ADH:@SECLEVEL=0', maxVersion: 'TLSv1.2' as const, dhparam: 'auto' as const };
  const server = createTlsServer(certificate ?? anonymous, (socket) => void new ApiSession(router, socket, 'api-ssl'));
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return (socket) => {
    if (certificate && !isValidNow(certificate, router.clock.utcMs())) socket.destroy();
    else server.emit('connection', socket);
  };
}

/** The router judges its own certificate by its own clock: in 1970 none is valid yet. */
function isValidNow({ cert }: Certificate, utcMs: number): boolean {
  const { validFrom, validTo } = new X509Certificate(cert);
  return utcMs >= Date.parse(validFrom) && utcMs <= Date.parse(validTo);
}

function listen(server: Server, { host, port }: ApiListenOptions): Promise<number> {
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
