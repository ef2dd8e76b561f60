import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';

export interface RelayOptions {
  /** Target of each listening port. */
  targets: number[];
  /** Listens with TLS. */
  serve?: { cert: string; key: string };
  /** Dials with TLS. */
  trust?: string;
}

/** One hop of the reference: a plain TCP relay, no framing, no checks, every byte piped. @returns the ports in order */
export async function startRelayHop(options: RelayOptions): Promise<number[]> {
  return Promise.all(options.targets.map((target) => listen(target, options)));
}

async function listen(target: number, { serve, trust }: RelayOptions): Promise<number> {
  const relay = (a: net.Socket): void => {
    a.setNoDelay(true);
    const b = trust === undefined ? net.connect({ port: target, host: '127.0.0.1', allowHalfOpen: true }) : dialTls(target, trust);
    b.setNoDelay(true);
    a.on('error', () => b.destroy());
    b.on('error', () => a.destroy());
    a.pipe(b);
    b.pipe(a);
  };
  const server = serve
    ? tls.createServer({ ...serve, allowHalfOpen: true } as tls.TlsOptions, relay)
    : net.createServer({ allowHalfOpen: true }, relay);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function dialTls(port: number, ca: string): tls.TLSSocket {
  return tls.connect({ port, host: '127.0.0.1', servername: '', ca, allowHalfOpen: true } as tls.ConnectionOptions);
}
