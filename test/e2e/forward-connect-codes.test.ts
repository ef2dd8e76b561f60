import { once } from 'node:events';
import http from 'node:http';
import type net from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { ConnectEndpoint } from '../../server/work/forwards/connect/endpoint.ts';
import type { ForwardRecord } from '../../server/work/forwards/types.ts';
import { ForwardWorld } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Ends of a WebSocket connection that its client does not cause, each with its close code. */

let clock: ManualClock;
let world: ForwardWorld;
let endpoint: ConnectEndpoint;
let server: http.Server;

beforeEach(async () => {
  clock = new ManualClock(Date.now());
  world = await ForwardWorld.open({ clock });
  endpoint = new ConnectEndpoint(clock);
  server = http.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await world.close();
  server.closeAllConnections();
  server.close();
});

/** A client connected to the WebSocket entry of this forward. */
async function inside({ team_id: team, router_id: router, id }: ForwardRecord): Promise<WebSocket> {
  const acceptor = await world.forwards.acceptor(team, router, id, 'client');
  const sockets = new WebSocketServer({ noServer: true });
  server.once('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (ws) =>
      endpoint.carry(acceptor, ws, { teamId: 'team', source: 'client', isStillAllowed: async () => true }),
    );
  });
  const ws = new WebSocket(`ws://127.0.0.1:${(server.address() as net.AddressInfo).port}`);
  await once(ws, 'open');
  return ws;
}

async function echoForward(idleSeconds: number | null = null): Promise<ForwardRecord> {
  return (await world.create({ dstPort: await world.target((socket) => socket.pipe(socket)), idleSeconds })).record;
}

async function echoed(ws: WebSocket): Promise<void> {
  ws.send(Buffer.from('hello'));
  await once(ws, 'message');
}

const codeOf = async (ws: WebSocket): Promise<number> => ((await once(ws, 'close')) as [number])[0];

test('4408: the forward has expired', async () => {
  const ws = await inside(await echoForward());
  await echoed(ws);
  const code = codeOf(ws);
  clock.advance(10 * 60_000);
  expect(await code).toBe(4408);
});

test('4410: the connection was idle for longer than the forward allows', async () => {
  const ws = await inside(await echoForward(60));
  await echoed(ws);
  const code = codeOf(ws);
  for (let quarters = 0; quarters < 6; quarters += 1) clock.advance(15_000);
  expect(await code).toBe(4410);
});

test('4503: the connection to the agent breaks', async () => {
  const record = await echoForward();
  const ws = await inside(record);
  await echoed(ws);
  const code = codeOf(ws);
  await world.forwards.dropAgent(record.team_id, world.seeded.agentId);
  expect(await code).toBe(4503);
});

test('4504: the agent is offline and does not connect in time', async () => {
  world.gateway.disconnect();
  const ws = await inside((await world.create({ dstPort: 9 })).record);
  const code = codeOf(ws);
  await waitUntil('it is waited for', async () => {
    clock.advance(10_000);
    return ws.readyState !== WebSocket.OPEN;
  });
  expect(await code).toBe(4504);
});
