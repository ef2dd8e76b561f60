import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApp } from '../../../server/platform/http/app.ts';
import type { App } from '../../../server/platform/http/app.ts';
import { identifyCaller, requireCaller } from '../../../server/platform/http/authentication.ts';
import type { Principal } from '../../../server/platform/core/principal.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const principal = { kind: 'api_key', id: 'key', teamId: 'team', role: 'admin' } as unknown as Principal;
const BODY = '{"a":1}';
const HEAD = [
  'POST /api/echo HTTP/1.1',
  'Host: localhost',
  'Authorization: Bearer secret',
  'Content-Type: application/json',
  `Content-Length: ${BODY.length}`,
  'Connection: close',
  '\r\n',
].join('\r\n');

let app: App;
let lookups: number;
let port: number;

beforeEach(async () => {
  lookups = 0;
  app = createApp({ log: pino({ level: 'silent' }), now: () => Date.now() });
  identifyCaller(app, async () => {
    lookups += 1;
    return principal;
  });
  requireCaller(app);
  app.post('/api/echo', async (request) => ({ got: request.body }));
  app.get('/api/echo', async () => ({}));
  await app.listen({ port: 0, host: '127.0.0.1' });
  port = (app.server.address() as AddressInfo).port;
});
afterEach(async () => app.close());

async function send(first: string, rest?: { text: string; when: () => boolean }): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
  socket.write(first);
  if (rest) {
    await waitUntil('the rest is due', rest.when);
    socket.write(rest.text);
  }
  await once(socket, 'close');
  return answer.split('\r\n', 1)[0]!;
}

test('the caller of a request that comes in one piece is looked up once', async () => {
  expect(await send(HEAD + BODY)).toBe('HTTP/1.1 200 OK');
  expect(lookups).toBe(1);
  expect(await send('GET /api/echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nConnection: close\r\n\r\n')).toMatch(
    / 200 /,
  );
  expect(lookups).toBe(2);
});

test('the caller of a request whose body comes later is looked up again', async () => {
  expect(await send(HEAD, { text: BODY, when: () => lookups === 1 })).toBe('HTTP/1.1 200 OK');
  expect(lookups).toBe(2);
});
