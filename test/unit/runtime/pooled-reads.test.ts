import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { pooledReads } from '../../../runtime/pooled-reads.ts';

const TOTAL_BYTES = 8 * 1024 * 1024;
const FULL_READ_BYTES = 64 * 1024;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** A socket with pooled reads whose other end sends 8 MB and ends. */
async function busySocket(): Promise<net.Socket> {
  const server = net.createServer((socket) => socket.end(Buffer.alloc(TOTAL_BYTES, 'x'))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reads = pooledReads();
  const socket = net.connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', onread: reads.onread });
  reads.attach(socket);
  cleanups.push(
    () => server.close(),
    () => socket.destroy(),
  );
  return socket;
}

test('a busy socket yields to others after four full reads, and loses nothing', async () => {
  const socket = await busySocket();
  let [bytes, thisTurn, most] = [0, 0, 0];
  let isCounting = true;
  const nextTurn = (): void => {
    thisTurn = 0;
    if (isCounting) setImmediate(nextTurn);
  };
  nextTurn();
  socket.on('data', (chunk: Buffer, release?: () => void) => {
    bytes += chunk.length;
    thisTurn += chunk.length === FULL_READ_BYTES ? 1 : 0;
    most = Math.max(most, thisTurn);
    release?.();
  });
  await once(socket, 'end');
  isCounting = false;
  expect(bytes).toBe(TOTAL_BYTES);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(4);
});

test('a socket that is paused meanwhile stays paused until it is resumed', async () => {
  const socket = await busySocket();
  let bytes = 0;
  let fullReads = 0;
  const paused = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer, release?: () => void) => {
      bytes += chunk.length;
      fullReads = chunk.length === FULL_READ_BYTES ? fullReads + 1 : 0;
      release?.();
      if (fullReads !== 4) return;
      socket.pause();
      resolve();
    });
  });
  await paused;
  const before = bytes;
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(bytes).toBe(before);
  socket.removeAllListeners('data').on('data', (chunk: Buffer, release?: () => void) => {
    bytes += chunk.length;
    release?.();
  });
  socket.resume();
  await once(socket, 'end');
  expect(bytes).toBe(TOTAL_BYTES);
});
