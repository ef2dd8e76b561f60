import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { Counters } from '../../server/platform/core/counters.ts';
import { QUIET_CONNECTIONS, QuietConnections } from '../../server/platform/http/quiet-connections.ts';
import { createSelfSigned } from '../simulator/certificate.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** An attacker opens thousands of connections and sends nothing, or half a message. */

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A client that notes whether it was closed. */
class Client {
  readonly socket: net.Socket;
  isClosed = false;
  text = '';

  constructor(port: number, localAddress = '127.0.0.1') {
    this.socket = net.connect({ port, host: '127.0.0.1', localAddress });
    this.socket.on('error', () => undefined).on('close', () => (this.isClosed = true));
    this.socket.setEncoding('utf8').on('data', (chunk: string) => (this.text += chunk));
    closers.push(() => void this.socket.destroy());
  }

  async connected(): Promise<this> {
    await once(this.socket, 'connect');
    return this;
  }

  /** Sends a request and waits for its answer; the connection stays. */
  async ask(): Promise<this> {
    this.text = '';
    this.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitUntil('an answer', () => this.text.includes('done'));
    return this;
  }
}

describe('idle connections', () => {
  const limits = { perNetwork: 3, total: 5 };

  async function startServer(
    answer: (response: http.ServerResponse) => void = (response) => response.end('done'),
    isTrusted = (_address: string) => false,
  ): Promise<{ port: number; quiet: QuietConnections; counters: Counters }> {
    const counters = new Counters();
    const quiet = new QuietConnections({ isTrusted, counters, limits });
    const server = http.createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
    quiet.watch(server);
    await once(server, 'listening');
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return { port: (server.address() as AddressInfo).port, quiet, counters };
  }

  async function open(port: number, count: number, localAddress?: string): Promise<Client[]> {
    const clients: Client[] = [];
    for (let i = 0; i < count; i += 1) clients.push(await new Client(port, localAddress).connected());
    return clients;
  }

  test('are limited per network; the one idle for longest is closed', async () => {
    const { port, quiet, counters } = await startServer();
    const clients = await open(port, 4);
    await waitUntil('one is closed', () => clients[0]!.isClosed);
    expect([clients.map(({ isClosed }) => isClosed), quiet.size, counters.get('quiet_connections')]).toEqual([
      [true, false, false, false],
      3,
      1,
    ]);
  });

  test('of another network stay open until the total limit is reached', async () => {
    const { port, quiet } = await startServer();
    const [ours, others] = [await open(port, 2), await open(port, 3, '127.0.0.2')];
    expect(quiet.size).toBe(5);
    const more = await open(port, 1, '127.0.0.3');
    await waitUntil('one is closed', () => ours[0]!.isClosed);
    expect([ours[1]!, ...others, ...more].every(({ isClosed }) => !isClosed)).toBe(true);
  });

  test('include those idle again after a request, but not those with a request under way', async () => {
    let waiting: http.ServerResponse | undefined;
    const { port, quiet } = await startServer((response) => {
      if (waiting) response.end('done');
      else waiting = response;
    });
    const slow = await new Client(port).connected();
    slow.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitUntil('it is being answered', () => waiting);
    const idle = await (await new Client(port).connected()).ask();
    const clients = await open(port, 3);
    await waitUntil('the idle one is closed', () => idle.isClosed);
    expect([slow.isClosed, quiet.size, clients.every(({ isClosed }) => !isClosed)]).toEqual([false, 3, true]);
    waiting!.end('done');
    await waitUntil('the slow one is answered', () => slow.text.includes('done'));
    await waitUntil('it is quiet now', () => clients[0]!.isClosed);
    for (const client of clients) client.socket.destroy();
    slow.socket.destroy();
    await waitUntil('nothing is left of them', () => quiet.size === 0);
  });

  test('from the trusted proxy are not counted', async () => {
    const { port, quiet } = await startServer(undefined, () => true);
    const clients = await open(port, 8);
    expect([quiet.size, clients.some(({ isClosed }) => isClosed)]).toEqual([0, false]);
  });

  test('are not counted once they are WebSockets', async () => {
    const { port, quiet } = await startServer();
    const server = http.createServer().listen(0, '127.0.0.1');
    quiet.watch(server);
    const upgraded: net.Socket[] = [];
    server.on('upgrade', (_request, socket: net.Socket) => upgraded.push(socket));
    await once(server, 'listening');
    closers.push(() => {
      for (const socket of upgraded) socket.destroy();
      server.close();
    });
    const client = await new Client((server.address() as AddressInfo).port).connected();
    client.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await waitUntil('it is upgraded', () => upgraded.length === 1);
    await open(port, 4);
    expect(client.isClosed).toBe(false);
  });
});

test('thousands of half-open TLS handshakes from one address block no other client and no certificate reload', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-handshakes-'));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const renew = async (): Promise<string> => {
    const { cert, key } = await createSelfSigned('localhost');
    await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)]);
    return cert;
  };
  await renew();
  const settings = { SIGNALBOX_TLS_CERT_FILE: certFile, SIGNALBOX_TLS_KEY_FILE: keyFile, SIGNALBOX_PUBLIC_URL: 'https://localhost:0' };
  const world = await World.start({ routers: [], server: settings });
  closers.push(() => world.close());
  const port = Number(new URL(world.server.url).port);
  const strangers: Client[] = [];
  for (let i = 0; i < QUIET_CONNECTIONS.perNetwork + 100; i += 1) {
    const stranger = new Client(port);
    strangers.push(stranger);
    // The beginning of a record; the rest never comes.
    stranger.socket.once('connect', () => stranger.socket.write(Buffer.from([22, 3, 1])));
    if (i % 100 === 0) await once(stranger.socket, 'connect');
  }
  await waitUntil('the first strangers are closed', () => strangers.filter(({ isClosed }) => isClosed).length >= 100);
  expect(world.server.services.quietConnections.size).toBeLessThanOrEqual(QUIET_CONNECTIONS.perNetwork);
  const ca = await renew();
  await world.server.reload();
  const honest = tls.connect({ socket: net.connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }), servername: 'localhost', ca });
  await once(honest, 'secureConnect');
  honest.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  const [answer] = (await once(honest, 'data')) as [Buffer];
  expect(answer.toString()).toContain(' 200 ');
  honest.destroy();
});
