import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startYardstick, watchHealth } from '../harness/health-watch.ts';
import type { Yardstick } from '../harness/health-watch.ts';
import { World } from '../harness/world.ts';
import { createSelfSigned } from '../simulator/certificate.ts';

/** Strangers at the TLS listener of agents and API users. Half-open connections by the thousand: quiet-connections.test.ts. */

/** `/healthz` answers within this, milliseconds. */
const BAR_MS = 200;
const ATTACK_MS = 3000;
/** Connections that each attack keeps open at the same time. */
const AT_ONCE = 20;

/** In a thread of their own: what an attacker computes must not count as the server's time. Each makes one connection after the other. */
const ATTACKS: Record<string, string> = {
  'bytes that are no TLS': `connect((socket) => socket.write(crypto.randomBytes(2000)))`,
  'an HTTP request without TLS': `connect((socket) => socket.write('GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'))`,
  'handshakes that end with the first answer': `connect((socket) => { socket.write(hello); socket.once('data', () => socket.destroy()); })`,
  'whole handshakes, and nothing behind them': `connect((socket) => { const secure = shake(socket); secure.once('secureConnect', () => socket.destroy()); })`,
  'handshakes byte by byte': `connect((socket) => {
    let at = 0;
    const timer = setInterval(() => (at < hello.length ? socket.write(hello.subarray(at, ++at)) : socket.destroy()), 20);
    socket.on('close', () => clearInterval(timer));
  })`,
  'renegotiation again and again': `connect((socket) => {
    const secure = shake(socket, { maxVersion: 'TLSv1.2' });
    const again = () => secure.destroyed || secure.renegotiate({}, (error) => { if (error) return socket.destroy(); renegotiations += 1; again(); });
    secure.once('secureConnect', again);
  })`,
};

const attackerOf = (attack: string): string => `
const { parentPort, workerData: { port, atOnce } } = require('node:worker_threads');
const net = require('node:net'); const tls = require('node:tls'); const crypto = require('node:crypto');
let connections = 0, renegotiations = 0, stopped = false;
const open = new Set();
function shake(socket, options) {
  const secure = tls.connect({ socket, rejectUnauthorized: false, servername: 'localhost', ...options });
  secure.on('error', () => socket.destroy());
  return secure;
}
function connect(begin) {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress: '127.0.0.3' });
  open.add(socket);
  socket.on('error', () => undefined);
  socket.once('connect', () => { connections += 1; begin(socket); });
  socket.once('close', () => { open.delete(socket); if (!stopped) setImmediate(next); });
  socket.setTimeout(2000, () => socket.destroy());
}
const next = () => ${attack};
let hello;
const recorder = net.createServer((socket) => socket.on('error', () => undefined).once('data', (data) => {
  hello = data;
  socket.destroy();
  recorder.close();
  for (let n = 0; n < atOnce; n += 1) next();
})).listen(0, '127.0.0.1', () => shake(net.connect(recorder.address().port, '127.0.0.1').on('error', () => undefined)));
parentPort.on('message', () => { stopped = true; for (const socket of open) socket.destroy(); parentPort.postMessage({ connections, renegotiations }); });
`;

let world: World;
let folder: string;
let yardstick: Yardstick;
/** Memory before all attacks, bytes. */
let atRest: number;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-tls-flood-'));
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const { cert, key } = await createSelfSigned('localhost');
  await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)]);
  const settings = { SIGNALBOX_TLS_CERT_FILE: certFile, SIGNALBOX_TLS_KEY_FILE: keyFile, SIGNALBOX_PUBLIC_URL: 'https://localhost:0' };
  world = await World.start({ routers: [], server: settings });
  yardstick = await startYardstick();
  atRest = process.memoryUsage().rss;
});
afterAll(async () => {
  await world?.close();
  await yardstick?.close();
  await rm(folder, { recursive: true, force: true });
});

describe(`/healthz answers within ${BAR_MS} ms over TLS, and memory stays bounded, under`, () => {
  // An answer that was late because of another program of the machine is not late three times.
  test.each(Object.entries(ATTACKS))('%s', { retry: 2, timeout: 30_000 }, async (_name, attack) => {
    const port = Number(new URL(world.server.url).port);
    let done = { connections: 0, renegotiations: 0 };
    const { worst, mayTake, figures } = await watchHealth({ url: world.server.url, barMs: BAR_MS, yardstick }, async () => {
      const attacker = new Worker(attackerOf(attack), { eval: true, workerData: { port, atOnce: AT_ONCE } });
      await pause(ATTACK_MS);
      const answer = once(attacker, 'message');
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
      attacker.postMessage('stop');
      [done] = (await answer) as [typeof done];
      await attacker.terminate();
    });
    expect(done.connections).toBeGreaterThanOrEqual(AT_ONCE);
    if (attack.includes('renegotiate')) expect(done.renegotiations).toBeGreaterThan(0);
    // Node ends a connection after three; more of them would be cheaper for a client than handshakes.
    expect(done.renegotiations).toBeLessThanOrEqual(3 * done.connections);
    expect(worst, `${figures}; ${done.connections} connections`).toBeLessThanOrEqual(mayTake);
    expect((process.memoryUsage().rss - atRest) / 1e6).toBeLessThan(300);
  });
});
