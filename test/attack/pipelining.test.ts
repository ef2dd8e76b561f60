import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { MAX_PIPELINED, boundPipelining } from '../../server/platform/http/pipelining.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** An attacker pipelines thousands of requests without waiting for answers. */

const REQUEST = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function startServer(handle: http.RequestListener): Promise<number> {
  const server = http.createServer(handle);
  boundPipelining(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function connect(port: number): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1').on('error', () => undefined);
  closers.push(() => void socket.destroy());
  await once(socket, 'connect');
  return socket.resume();
}

test('of 1,500 pipelined requests, only the first few start before the connection is closed', async () => {
  let begun = 0;
  const port = await startServer(() => (begun += 1));
  const socket = await connect(port);
  socket.write(REQUEST.repeat(1500));
  await waitUntil('it is cut', () => socket.destroyed);
  expect(begun).toBe(MAX_PIPELINED);
});

test('a few pipelined requests are answered in order, connection by connection', async () => {
  let count = 0;
  const port = await startServer((_request, response) => {
    count += 1;
    response.end(`${count};`);
  });
  const socket = await connect(port);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  for (let round = 1; round <= 5; round += 1) {
    socket.write(REQUEST.repeat(MAX_PIPELINED));
    await waitUntil('they are answered', () => text.includes(`${round * MAX_PIPELINED};`));
  }
  expect(text.match(/\d+;/g)).toEqual(Array.from({ length: 5 * MAX_PIPELINED }, (_, i) => `${i + 1};`));
});

test('a wait for the end of a request finishes when its connection closes, at any position in the queue', async () => {
  const ended: string[] = [];
  let begun = 0;
  const port = await startServer((_request, response) => {
    const name = `request ${(begun += 1)}`;
    response.once('close', () => ended.push(name));
  });
  const socket = await connect(port);
  socket.write(REQUEST.repeat(3));
  await waitUntil('they are begun', () => begun === 3);
  socket.destroy();
  await waitUntil('all have ended', () => ended.length === 3);
});

test('the control plane closes such a connection and answers others', async () => {
  const world = await World.start({ routers: [] });
  closers.push(() => world.close());
  const socket = await connect(Number(new URL(world.server.url).port));
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  // Slower to answer than to read: it waits for the database.
  socket.write(`GET /api/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.caller.apiKey}\r\n\r\n`.repeat(1000));
  await waitUntil('it is cut', () => socket.destroyed);
  expect(text.split('HTTP/1.1 200').length - 1).toBeLessThanOrEqual(MAX_PIPELINED);
  expect((await fetch(`${world.server.url}/healthz`)).status).toBe(200);
});
