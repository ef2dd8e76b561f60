import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { onceTold } from '../harness/cluster/once-told.ts';
import { readAll } from '../harness/read-all.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import { Stopwatch } from '../harness/stopwatch.ts';

/** The WebSocket entry of a forward: one connection each, without an open port. */
let world: World;
let routerId: string;
const servers: net.Server[] = [];

beforeAll(async () => {
  world = await World.start();
  routerId = (await world.routerIds())[0]!;
});
afterAll(async () => {
  for (const server of servers) server.close();
  await world.close();
});

/** What the target does with a connection. */
let serve: (socket: net.Socket) => void;
let port: number;
beforeEach(async () => {
  serve = (socket) => socket.pipe(socket);
  let checked = false;
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    // The first is the agent's check whether the target answers.
    if (checked) serve(socket);
    checked = true;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  port = (server.address() as net.AddressInfo).port;
});

/** Nobody may use its entry port. */
async function makeForward(dstPort = port): Promise<string> {
  const body = { expire_after_minutes: 10, dst_port: dstPort, dst_address: '127.0.0.1', allow_from: '192.0.2.1' };
  const answer = await world.caller.call<{ id: string; authorized_at: string | null }>(
    'POST',
    `/api/routers/${routerId}/transient-forwarding`,
    body,
  );
  expect(answer.body).toMatchObject({ authorized_at: expect.any(String) });
  return answer.body.id;
}

const pathOf = (id: string): string => `/api/routers/${routerId}/transient-forwarding/${id}`;

function open(id: string, { key = world.caller.apiKey, subprotocol = 'signalbox.connect.v1' } = {}): WebSocket {
  const ws = new WebSocket(`${world.server.url.replace('http', 'ws')}${pathOf(id)}/connect`, subprotocol, {
    headers: { authorization: `Bearer ${key}` },
    perMessageDeflate: false,
  });
  ws.on('error', () => undefined);
  return ws;
}

async function opened(id: string): Promise<WebSocket> {
  const ws = open(id);
  await once(ws, 'open');
  return ws;
}

async function closeOf(ws: WebSocket): Promise<number> {
  const [code] = (await once(ws, 'close')) as [number];
  return code;
}

/** Everything until the empty message. */
function received(ws: WebSocket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    ws.on('message', (data: Buffer) => {
      if (data.length === 0) resolve(Buffer.concat(chunks));
      else chunks.push(data);
    });
    ws.on('close', (code) => reject(new Error(`closed with ${code}`)));
  });
}

const EMPTY = Buffer.alloc(0);
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function sendAll(ws: WebSocket, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at += 60_000) {
    await new Promise<void>((resolve) => ws.send(bytes.subarray(at, at + 60_000), () => resolve()));
  }
  ws.send(EMPTY);
}

describe('bytes', () => {
  test('end with 1000 when the client half-closes first and the target answers afterwards', async () => {
    serve = (socket) => void readAll(socket).then((all) => socket.end(`got ${all.length}`));
    const ws = await opened(await makeForward());
    const closed = closeOf(ws);
    const answer = received(ws);
    ws.send(Buffer.from('hello'));
    ws.send(EMPTY);
    expect(String(await answer)).toBe('got 5');
    expect(await closed).toBe(1000);
  });

  test('flow from the client after the target has half-closed', async () => {
    let uploaded: Promise<Buffer> | undefined;
    serve = (socket) => {
      uploaded = readAll(socket);
      socket.end('bye');
    };
    const ws = await opened(await makeForward());
    const closed = closeOf(ws);
    expect(String(await received(ws))).toBe('bye');
    ws.send(Buffer.from('after the end of the answer'));
    ws.send(EMPTY);
    expect(await closed).toBe(1000);
    expect(String(await uploaded!)).toBe('after the end of the answer');
  });

  test('arrive unchanged, 20 MB in both directions at once', async () => {
    const upload = randomBytes(20_000_000);
    const download = randomBytes(20_000_000);
    let uploaded: Promise<Buffer> | undefined;
    serve = (socket) => {
      uploaded = readAll(socket);
      socket.end(download);
    };
    const ws = await opened(await makeForward());
    const closed = closeOf(ws);
    const answer = received(ws);
    await sendAll(ws, upload);
    expect(sha(await answer)).toBe(sha(download));
    expect(await closed).toBe(1000);
    expect(sha(await uploaded!)).toBe(sha(upload));
  });

  test('stop after a few megabytes when the client never reads, and delay no other connection', async () => {
    let taken = 0;
    serve = (socket) => {
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        while (socket.write(chunk, () => void (taken += chunk.length)));
      };
      socket.on('drain', more);
      more();
    };
    const id = await makeForward();
    const ws = await opened(id);
    ws.pause();
    let last = -1;
    await waitUntil('nothing flows any more', async () => {
      const stands = taken === last && taken > 0;
      last = taken;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return stands && taken === last;
    });
    // Kernel buffers of three hops on loopback are most of it.
    expect(taken).toBeLessThan(40_000_000);
    serve = (socket) => socket.end('quick');
    expect(String(await received(await opened(id)))).toBe('quick');
    ws.terminate();
  });
});

describe('the end', () => {
  test('has code 4502 when the target refuses or resets', async () => {
    const closedServer = servers.at(-1)!;
    const id = await makeForward();
    serve = (socket) => void socket.once('data', () => socket.resetAndDestroy());
    const ws = await opened(id);
    const closed = closeOf(ws);
    ws.send(Buffer.from('x'));
    expect(await closed).toBe(4502);
    closedServer.close();
    expect(await closeOf(await opened(id))).toBe(4502);
  });

  test('has code 4403 after a revocation, and new connections are refused', async () => {
    serve = (socket) => void socket.on('data', () => undefined).write(Buffer.alloc(5_000_000));
    const id = await makeForward();
    const ws = await opened(id);
    const closed = closeOf(ws);
    await once(ws, 'message');
    expect((await world.caller.call('DELETE', pathOf(id))).status).toBe(204);
    expect(await closed).toBe(4403);
    expect(await refusal(open(id))).toMatchObject({ status: 409, code: 'conflict' });
  });

  test('has code 4400 after a text message', async () => {
    const ws = await opened(await makeForward());
    const closed = closeOf(ws);
    ws.send('text');
    expect(await closed).toBe(4400);
  });

  test('resets the target when the client disconnects, and the connection is recorded', async () => {
    let broken: Promise<unknown> | undefined;
    serve = (socket) => {
      broken = new Promise((resolve) => socket.once('close', resolve));
      socket.write('hello');
    };
    const id = await makeForward();
    const ws = await opened(id);
    await once(ws, 'message');
    expect((await world.caller.call<{ open_connections: number }>('GET', pathOf(id))).body.open_connections).toBe(1);
    const logged = async (): Promise<Logged[]> =>
      (await world.caller.call<{ data: Logged[] }>('GET', `${pathOf(id)}/connections`)).body.data;
    await onceTold(async () => expect(await logged()).toMatchObject([{ closed_at: null, bytes_out: 5, ended_by: 'open' }]));
    ws.terminate();
    await broken;
    const log = await waitUntil('the connection is over', async () => (await logged()).find(({ closed_at }) => closed_at !== null));
    expect(log).toMatchObject({ source: expect.stringMatching(/^127\.0\.0\.1:\d+$/), bytes_in: 0, bytes_out: 5, ended_by: 'client' });
  });
});

interface Logged {
  closed_at: string | null;
}

interface Refused {
  status: number;
  type: string | undefined;
  code: string;
}

async function refusal(ws: WebSocket): Promise<Refused> {
  const [, answer] = (await once(ws, 'unexpected-response')) as [unknown, IncomingMessage];
  const problem = JSON.parse(String(await readAll(answer))) as { code: string };
  return { status: answer.statusCode!, type: answer.headers['content-type'], code: problem.code };
}

test('a client that hangs up before the answer gets no connection to the target', async () => {
  let connections = 0;
  serve = (socket) => {
    connections += 1;
    socket.pipe(socket);
  };
  const id = await makeForward();
  const { hostname, port: serverPort } = new URL(world.server.url);
  const hasty = net.connect(Number(serverPort), hostname).on('error', () => undefined);
  const head = [
    `GET ${pathOf(id)}/connect HTTP/1.1`,
    'Host: signalbox',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Protocol: signalbox.connect.v1',
    `Authorization: Bearer ${world.caller.apiKey}`,
  ];
  hasty.end(`${head.join('\r\n')}\r\n\r\n`);
  expect((await readAll(hasty)).toString()).not.toContain('101 Switching');
  const ws = await opened(id);
  ws.send(Buffer.from('hello'));
  await once(ws, 'message');
  expect(connections).toBe(1);
  ws.close();
});

describe('a refusal before the upgrade', () => {
  const type = 'application/problem+json; charset=utf-8';

  test('is 401 for a wrong key', async () => {
    const key = world.caller.apiKey.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'));
    expect(await refusal(open(await makeForward(), { key }))).toEqual({ status: 401, type, code: 'unauthenticated' });
  });

  test('is 403 for a viewer', async () => {
    const viewer = await world.server.services.credentials.createApiKey({
      teamId: world.caller.teamId,
      name: 'viewer',
      role: 'viewer',
      createdBy: null,
    });
    expect(await refusal(open(await makeForward(), { key: viewer.apiKey }))).toEqual({ status: 403, type, code: 'forbidden' });
  });

  test("is 404 for another team's forward", async () => {
    const other = await world.addTeam('Other');
    expect(await refusal(open(await makeForward(), { key: other.apiKey }))).toEqual({ status: 404, type, code: 'not_found' });
  });

  test('is 422 for another subprotocol or none', async () => {
    const id = await makeForward();
    expect(await refusal(open(id, { subprotocol: 'mqtt' }))).toEqual({ status: 422, type, code: 'invalid' });
    expect((await world.caller.call('GET', `${pathOf(id)}/connect`)).status).toBe(422);
  });
});

test('a shutdown closes connections with 1001 and does not wait for them', async () => {
  const ws = await opened(await makeForward());
  const closed = closeOf(ws);
  const stopwatch = new Stopwatch();
  await world.restartServer();
  expect(await closed).toBe(1001);
  expect(stopwatch.ms).toBeLessThan(8000);
});
