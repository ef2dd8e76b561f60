import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { addUser, signIn } from '../harness/identity/sign-in.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { World } from '../harness/world.ts';

/** Connections that stay open: they begin with a session's token, and outlive it as long as the person is allowed. */
let world: World;
let echo: net.Server;
let connectUrl: string;
let token: string;

beforeAll(async () => {
  world = await World.start();
  const [routerId] = (await world.routerIds()) as [string];
  echo = net.createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  await addUser(world, 'ada@example.org', 'operator');
  token = (await signIn(world, 'ada@example.org')).access_token;
  const { port } = echo.address() as net.AddressInfo;
  const made = await fetch(`${world.server.url}/api/routers/${routerId}/transient-forwarding`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ expire_after_minutes: 10, dst_port: port, dst_address: '127.0.0.1', allow_from: '192.0.2.1' }),
  });
  const { id } = (await made.json()) as { id: string };
  connectUrl = `${world.server.url.replace('http', 'ws')}/api/routers/${routerId}/transient-forwarding/${id}/connect`;
});
afterAll(async () => {
  echo.close();
  await world.close();
});

async function says(ws: WebSocket): Promise<string> {
  await once(ws, 'open');
  ws.send(Buffer.from('hello'));
  const [data] = (await once(ws, 'message')) as [Buffer];
  ws.close();
  return data.toString();
}

async function refusalOf(ws: WebSocket): Promise<number> {
  ws.on('error', () => undefined);
  const [, answer] = (await once(ws, 'unexpected-response')) as [unknown, { statusCode: number }];
  return answer.statusCode;
}

describe('the WebSocket entry of a forward', () => {
  test('accepts a session in the header', async () => {
    const ws = new WebSocket(connectUrl, 'signalbox.connect.v1', { headers: { authorization: `Bearer ${token}` } });
    expect(await says(ws)).toBe('hello');
  });

  test('accepts it as a subprotocol, which a browser can set, and does not echo it', async () => {
    const ws = new WebSocket(connectUrl, ['signalbox.connect.v1', `signalbox.bearer.${token}`]);
    expect(await says(ws)).toBe('hello');
    expect(ws.protocol).toBe('signalbox.connect.v1');
  });

  test('accepts no other token there, and none in the URL', async () => {
    expect(await refusalOf(new WebSocket(connectUrl, ['signalbox.connect.v1', `signalbox.bearer.${token}x`]))).toBe(401);
    expect(await refusalOf(new WebSocket(connectUrl, 'signalbox.connect.v1'))).toBe(401);
    expect(await refusalOf(new WebSocket(`${connectUrl}?access_token=${token}`, 'signalbox.connect.v1'))).toBe(401);
  });
});

test("keeps an open connection beyond the token's expiry, until the user is deactivated", async () => {
  const clock = new ManualClock(Date.now());
  const own = await World.start({ routers: [], overrides: { clock } });
  try {
    const id = await addUser(own, 'ada@example.org', 'viewer');
    const { access_token: bearer } = await signIn(own, 'ada@example.org');
    const { identity, teams } = own.server.services;
    expect(await identity.authenticate(bearer)).toMatchObject({ kind: 'user', id });
    clock.advance(6 * 60_000);
    expect(await identity.authenticate(bearer)).toBeUndefined();
    expect(await identity.authenticateConnection(bearer)).toMatchObject({ kind: 'user', id });
    await teams.changeMember(own.caller.teamId, id, { active: false });
    expect(await identity.authenticateConnection(bearer)).toBeUndefined();
    await teams.changeMember(own.caller.teamId, id, { active: true });
    clock.advance(12 * 3600_000);
    expect(await identity.authenticateConnection(bearer)).toBeUndefined();
    expect(await identity.authenticateConnection('eyJ.e30.x')).toBeUndefined();
  } finally {
    await own.close();
  }
});

test('events are streamed to a session', async () => {
  const stop = new AbortController();
  const answer = await fetch(`${world.server.url}/api/events`, { headers: { authorization: `Bearer ${token}` }, signal: stop.signal });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  stop.abort();
});
