import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { Dialer } from '../../agent/link/dialer.ts';
import type { ChannelSocket } from '../../protocol/index.ts';
import { createSelfSigned } from '../simulator/certificate.ts';
import { TunnelServer } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';

let certificate: { cert: string; key: string };
const cleanups: (() => void)[] = [];

beforeAll(async () => {
  certificate = await createSelfSigned('control plane');
});

afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

async function startSecure() {
  const world = new TunnelServer();
  const server = https.createServer(certificate);
  const resumed: boolean[] = [];
  server.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()));
  world.endpoint.attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const { socket } of world.channels) socket.terminate();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { world, resumed, address: `https://127.0.0.1:${port}` };
}

const open = (dialer: Dialer): Promise<ChannelSocket> => dialer.dialChannel('forward-1', (socket) => socket);

test("the certificate must be signed by the CA of the agent's configuration", async () => {
  const { address } = await startSecure();
  const stranger = new Dialer({ server: address, agentId: 'a', secret: 's' });
  await expect(open(stranger)).rejects.toMatchObject({ code: 'unreachable' });
  const agent = new Dialer({ server: address, agentId: 'a', secret: 's', ca: certificate.cert });
  (await open(agent)).close();
});

test('dials after the first resume its TLS session', async () => {
  const { world, resumed, address } = await startSecure();
  const agent = new Dialer({ server: address, agentId: 'a', secret: 's', ca: certificate.cert });
  const first = await open(agent);
  // The session comes after the handshake; a message from the server comes after the session.
  const heard = new Promise((resolve) => first.on('message', resolve));
  await waitUntil('the channel is there', () => world.channels.length === 1);
  world.channels[0]?.socket.send('hello');
  await heard;
  await Promise.all([open(agent), open(agent), open(agent)]);
  expect(resumed).toEqual([false, true, true, true]);
});
