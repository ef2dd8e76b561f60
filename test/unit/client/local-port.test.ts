import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { LocalPort } from '../../../client/local-port.ts';
import { ask, connectTo, receiveBytes, sendBytes } from '../../harness/byte-stream.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** The port that `signalbox forward` opens on this machine, and a server that carries its connections or refuses to. */
let door: http.Server;
let local: LocalPort;
let localPort: number;
/** Upgrades that are still to be refused, with these headers. */
let refusals: { status: string; count: number };
let knocks: number;
let broken: string[];
let said: string[];
/** What the server does with a connection that it has taken. */
let serve: (ws: WebSocket) => void;

const echo = (ws: WebSocket): void => void ws.on('message', (data: Buffer) => ws.send(data));

beforeEach(async () => {
  [refusals, knocks, broken, said, serve] = [{ status: '', count: 0 }, 0, [], [], echo];
  const carrier = new WebSocketServer({ noServer: true });
  door = http.createServer();
  door.on('upgrade', (request, socket: net.Socket, head) => {
    knocks += 1;
    refusals.count -= 1;
    if (refusals.count >= 0) socket.end(`HTTP/1.1 ${refusals.status}\r\nConnection: close\r\n\r\n`);
    else carrier.handleUpgrade(request, socket, head, (ws) => serve(ws));
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  local = await LocalPort.listen({
    host: '127.0.0.1',
    port: 0,
    onBroken: (reason) => broken.push(reason),
    print: (text) => said.push(text),
  });
  localPort = Number(local.name.split(':')[1]);
  local.leadTo(() => new WebSocket(`ws://127.0.0.1:${(door.address() as net.AddressInfo).port}`));
});
afterEach(() => {
  local.close();
  door.closeAllConnections();
  door.close();
});

/** So many programs that say one word each and wait for it to come back. */
const askAll = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, (_unused, n) => ask(localPort, `number ${n}`)));

/** As {@link echo}, ending when the program does. */
const echoOnce = (ws: WebSocket): void => {
  ws.on('message', (data: Buffer) => {
    ws.send(data);
    if (data.length === 0) ws.close(1000);
  });
};

test('connections that come too fast wait until the server takes more, and that is said once', async () => {
  serve = echoOnce;
  refusals = { status: '429 Too Many Requests\r\nRetry-After: 1', count: 1000 };
  const startedAt = performance.now();
  const answers = askAll(50);
  await waitUntil('the server has refused', () => said.length > 0);
  refusals.count = 0;
  expect(await answers).toEqual(Array.from({ length: 50 }, (_unused, n) => `number ${n}`));
  expect(performance.now() - startedAt).toBeGreaterThan(990);
  expect(broken).toEqual([]);
  expect(said).toEqual(['too many new connections per minute; the server asks to wait 1 s\n']);
  await waitUntil('all are over', () => local.counts.open === 0);
  expect(local.counts.total).toBe(50);
});

test('while they wait the server is not asked', async () => {
  refusals = { status: '429 Too Many Requests\r\nRetry-After: 60', count: 1000 };
  const first = ask(localPort, 'first').catch(() => 'broken');
  await waitUntil('the server has refused', () => said.length > 0);
  const others = Array.from({ length: 20 }, () => ask(localPort, 'other').catch(() => 'broken'));
  await waitUntil('they have come', () => local.counts.total === 21);
  expect(knocks).toBe(1);
  local.close();
  expect(await Promise.all([first, ...others])).toEqual(Array.from({ length: 21 }, () => 'broken'));
});

test('no more of them wait than a minute takes; the others are broken off, which is said once', async () => {
  refusals = { status: '429 Too Many Requests\r\nRetry-After: 60', count: 1000 };
  let off = 0;
  for (let n = 0; n < 300; n += 1)
    connectTo(localPort)
      .once('close', () => (off += 1))
      .resume();
  await waitUntil('those too many are broken off', () => off === 300 - 256);
  expect(said).toHaveLength(2);
  expect(said[1]).toBe('too many connections are waiting; further ones are reset\n');
});

test('other refusals end the connection, in words', async () => {
  refusals = { status: '404 Not Found', count: 1 };
  await expect(ask(localPort, 'anybody?')).rejects.toThrow();
  expect(broken).toEqual(['the server answered 404']);
});

const MIB = 1024 * 1024;
/** Far more than the buffers of the system on the way, which hold some megabytes at each of the two hops. */
const PLENTY = 96 * MIB;
/** What a side that stalls may have taken out of the other's hands. */
const BOUND = 48 * MIB;

/** The number as soon as it has not changed for half a second. */
async function settled(read: () => number): Promise<number> {
  let [last, since] = [-1, 0];
  await waitUntil('nothing moves any more', () => {
    const now = performance.now();
    if (read() !== last) [last, since] = [read(), now];
    return now - since > 500;
  });
  return last;
}

test('a program that does not read holds the server back, and gets every byte when it reads on', async () => {
  const piece = Buffer.alloc(64 * 1024, 7);
  let sent = 0;
  serve = (ws) => {
    const more = (): void => {
      if (sent === PLENTY) return ws.close(1000);
      ws.send(piece, () => {
        sent += piece.length;
        more();
      });
    };
    more();
  };
  const program = connectTo(localPort).pause();
  await waitUntil('it is carried', () => sent > 0);
  expect(await settled(() => sent)).toBeLessThan(BOUND);
  const received = receiveBytes(program);
  program.resume();
  expect((await received).bytes).toBe(PLENTY);
  program.destroy();
});

test('a server that does not read holds the program back, and gets every byte when it reads on', async () => {
  let ws!: WebSocket;
  let arrived = 0;
  serve = (opened) => {
    ws = opened;
    ws.on('message', (data: Buffer) => (arrived += data.length));
    ws.pause();
  };
  const program = connectTo(localPort);
  const sending = sendBytes(program, PLENTY);
  await waitUntil('it is carried', () => ws !== undefined);
  expect(await settled(() => program.bytesWritten - program.writableLength)).toBeLessThan(BOUND);
  ws.resume();
  await sending;
  await waitUntil('all has arrived', () => arrived === PLENTY);
  program.destroy();
});
