import { once } from 'node:events';
import net from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { INCOMPLETE, refused } from '../../../server/work/forwards/entry/names/prelude.ts';
import type { Prelude } from '../../../server/work/forwards/entry/names/prelude.ts';
import { PendingConnections } from '../../../server/work/forwards/entry/names/pending-connections.ts';
import type { PreludeOutcome } from '../../../server/work/forwards/entry/names/pending-connections.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { readAll } from '../../harness/read-all.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** Where clients wait that have to say something first: here one line that begins with an @. */
function parseLine(bytes: Buffer): Prelude<string> {
  if (bytes.length > 0 && bytes[0] !== 0x40) return refused('no @');
  const end = bytes.indexOf('\n');
  return end < 0 ? INCOMPLETE : { state: 'complete', value: bytes.toString('latin1', 1, end), length: end + 1 };
}

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Room {
  room: PendingConnections;
  clock: ManualClock;
  told: PreludeOutcome<string>[];
  accepted: net.Socket[];
  connect(localAddress?: string): net.Socket;
}

async function open(capacity = 10): Promise<Room> {
  const clock = new ManualClock();
  const room = new PendingConnections({ clock, capacity, timeoutMs: 5000 });
  const told: PreludeOutcome<string>[] = [];
  const accepted: net.Socket[] = [];
  const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    accepted.push(socket);
    room.read(socket.remoteAddress!, socket, parseLine, (outcome) => told.push(outcome));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const connect = (localAddress = '127.0.0.1'): net.Socket => {
    const socket = net.connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    socket.on('error', () => undefined);
    closers.push(() => socket.destroy());
    return socket;
  };
  closers.push(
    () => server.close(),
    () => accepted.forEach((socket) => socket.destroy()),
  );
  return { room, clock, told, accepted, connect };
}

const closeOf = (socket: net.Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));
/** What is still to be read of a paused socket. */
function rest(socket: net.Socket): Promise<Buffer> {
  const all = readAll(socket);
  socket.resume();
  return all;
}

const waiting = ({ room }: Room, count: number): Promise<unknown> => waitUntil(`${count} wait`, () => room.size === count);
const heard = ({ told }: Room, count: number): Promise<unknown> => waitUntil(`${count} are heard`, () => told.length === count);

it('tells what a client said, puts back what follows, and leaves the socket as it came', async () => {
  const world = await open();
  const client = world.connect();
  client.end('@hello\nthe rest');
  await heard(world, 1);
  expect(world.told).toEqual([{ ok: true, value: 'hello' }]);
  const [socket] = world.accepted;
  expect(socket!.isPaused()).toBe(true);
  expect(socket!.listenerCount('data')).toBe(0);
  expect(String(await rest(socket!))).toBe('the rest');
  expect(world.room.size).toBe(0);
  expect(world.clock.pending).toBe(0);
});

it('waits for the rest of what comes in pieces', async () => {
  const world = await open();
  const client = world.connect();
  client.setNoDelay(true);
  for (const byte of '@slow\nx') {
    client.write(byte);
    await waitUntil('it has arrived', () => (world.accepted[0]?.bytesRead ?? 0) === client.bytesWritten);
  }
  await heard(world, 1);
  expect(world.told[0]).toEqual({ ok: true, value: 'slow' });
  client.end();
  expect(String(await rest(world.accepted[0]!))).toBe('x');
});

it('refuses what cannot become right, what ends too early, and what takes too long', async () => {
  const world = await open();
  world.connect().write('GET /');
  await heard(world, 1);
  world.connect().end('@half');
  await heard(world, 2);
  world.connect().write('@');
  await waiting(world, 1);
  world.clock.advance(4999);
  expect(world.told).toHaveLength(2);
  world.clock.advance(1);
  expect(world.told.map((outcome) => outcome.ok)).toEqual([false, false, false]);
  expect(world.room.size).toBe(0);
});

it('lets a flood from one place push out only itself', async () => {
  const world = await open(5);
  const honest = world.connect('127.0.0.2');
  await waiting(world, 1);
  const flood = Array.from({ length: 20 }, () => world.connect());
  await waitUntil('the flood has come', () => world.accepted.length === 21);
  await waitUntil('it pushed out itself', () => flood.filter((socket) => socket.destroyed).length >= 16);
  honest.write('@here\n');
  await heard(world, 1);
  expect(world.told).toEqual([{ ok: true, value: 'here' }]);
});

it('breaks off who has waited longest when there are too many', async () => {
  const world = await open(3);
  const clients: net.Socket[] = [];
  for (let count = 1; count <= 3; count += 1) {
    clients.push(world.connect());
    await waiting(world, count);
  }
  const broken = closeOf(clients[0]!);
  const late = world.connect();
  await broken;
  expect(world.room.size).toBe(3);
  late.write('@in\n');
  await heard(world, 1);
  expect(world.told).toEqual([{ ok: true, value: 'in' }]);
});

it('forgets who goes away, and breaks off everyone at the end', async () => {
  const world = await open();
  const gone = world.connect();
  await waiting(world, 1);
  gone.resetAndDestroy();
  await waiting(world, 0);
  const client = world.connect();
  await waiting(world, 1);
  const broken = closeOf(client);
  world.room.close();
  await broken;
  await closeOf(world.connect());
  expect(world.told).toEqual([]);
  expect(world.clock.pending).toBe(0);
});
