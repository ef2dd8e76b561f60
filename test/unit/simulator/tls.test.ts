import { execFileSync } from 'node:child_process';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/index.ts';
import { RawClient } from './raw-client.ts';

let simulator: Simulator;
afterEach(() => simulator.close());

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version']);
    return true;
  } catch {
    return false;
  }
}

function secure(options: ConnectionOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: simulator.apiTlsPort, ...options }, () => resolve(socket));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed')));
  });
}

describe('api-ssl', () => {
  it('without a certificate offers anonymous DH only', async () => {
    simulator = await startSimulator({ apiTlsPort: 0, sshPort: null });
    await expect(secure({ rejectUnauthorized: false })).rejects.toThrow(/handshake failure|closed|ECONNRESET/);
    const client = new RawClient(await secure({ ciphers: 'ADH:@SECLEVEL=0', rejectUnauthorized: false, maxVersion: 'TLSv1.2' }));
    expect(await client.talk('/login', '=name=admin', '=password=')).toEqual([['!done']]);
    client.socket.destroy();
  });

  it.skipIf(!hasOpenssl())('with one speaks ordinary TLS, except in 1970', async () => {
    simulator = await startSimulator({ apiTlsPort: 0, sshPort: null, tls: 'self-signed' });
    const client = new RawClient(await secure({ ca: simulator.tlsCertificate ?? '' }));
    expect(await client.talk('/login', '=name=admin', '=password=')).toEqual([['!done']]);
    client.socket.destroy();
    simulator.router.clock.setUtc(86_400_000);
    await expect(secure({ ca: simulator.tlsCertificate ?? '' })).rejects.toThrow();
  });
});
