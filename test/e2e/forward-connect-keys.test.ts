import { once } from 'node:events';
import net from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ManualClock } from '../harness/manual-clock.ts';
import { World } from '../harness/world.ts';

/** Connections through the WebSocket entry outlive the request that opened them; they end with their key. */
let clock: ManualClock;
let world: World;
let echo: net.Server;
let connectUrl: string;

beforeEach(async () => {
  clock = new ManualClock(Date.now());
  // Several control planes would learn of each other by this clock, which stands still.
  world = await World.start({ overrides: { clock }, spread: false });
  const [routerId] = (await world.routerIds()) as [string];
  echo = net.createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const { port } = echo.address() as net.AddressInfo;
  const path = `/api/routers/${routerId}/transient-forwarding`;
  const body = { expire_after_minutes: 10, dst_port: port, dst_address: '127.0.0.1', allow_from: '192.0.2.1' };
  const made = await world.caller.call<{ id: string }>('POST', path, body);
  connectUrl = `${world.server.url.replace('http', 'ws')}${path}/${made.body.id}/connect`;
});
afterEach(async () => {
  echo.close();
  await world.close();
});

interface Key {
  id: string;
  api_key: string;
}

async function newKey(): Promise<Key> {
  const made = await world.caller.call<{ data: Key }>('POST', '/api/api-keys', { name: 'short' });
  return made.body.data;
}

async function connected(key: string): Promise<WebSocket> {
  const ws = new WebSocket(connectUrl, 'signalbox.connect.v1', { headers: { authorization: `Bearer ${key}` } });
  await once(ws, 'open');
  expect(await answer(ws)).toBe('hello');
  return ws;
}

async function answer(ws: WebSocket): Promise<string> {
  ws.send(Buffer.from('hello'));
  const [data] = (await once(ws, 'message')) as [Buffer];
  return data.toString();
}

test('revoking an API key closes its connections within 25 seconds, and none of another key', async () => {
  const key = await newKey();
  const [its, another] = [await connected(key.api_key), await connected(world.caller.apiKey)];
  clock.advance(25_000);
  expect(await answer(its)).toBe('hello');
  const closed = once(its, 'close');
  expect((await world.caller.call('DELETE', `/api/api-keys/${key.id}`)).status).toBe(204);
  clock.advance(25_000);
  const [code, reason] = (await closed) as [number, Buffer];
  expect({ code, reason: reason.toString() }).toEqual({ code: 4403, reason: 'the forward or the API key was revoked' });
  expect(await answer(another)).toBe('hello');
  another.terminate();
});

test('a key may open ten times as many connections as requests per minute; the next is 429 with Retry-After', async () => {
  const own = await World.start({ routers: [], server: { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '2' } });
  try {
    // Also those count that lead nowhere.
    const id = '01900000-0000-7000-8000-000000000001';
    const url = `${own.server.url.replace('http', 'ws')}/api/routers/${id}/transient-forwarding/${id}/connect`;
    const knock = async (): Promise<{ statusCode: number; headers: Record<string, string> }> => {
      const ws = new WebSocket(url, 'signalbox.connect.v1', { headers: { authorization: `Bearer ${own.caller.apiKey}` } });
      ws.on('error', () => undefined);
      const [, answer] = (await once(ws, 'unexpected-response')) as [unknown, { statusCode: number; headers: Record<string, string> }];
      ws.terminate();
      return answer;
    };
    for (let n = 0; n < 20; n += 1) expect((await knock()).statusCode).toBe(404);
    const refused = await knock();
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  } finally {
    await own.close();
  }
});
