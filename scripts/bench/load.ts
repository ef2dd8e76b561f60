import { once } from 'node:events';
import net from 'node:net';
import type { Path } from './path.ts';
import { pour } from './pour.ts';
import { BenchProcess, totalCpu } from './processes.ts';
import type { Targets } from './targets.ts';

export interface BytesSample {
  bytesPerSecond: number;
  /** CPU time of the two processes in the middle. */
  cpuSecondsPerGigabyte: number;
}

/** The first part of a transfer fills buffers and warms up the compiler. */
const WARM_UP_MS = 300;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Bulk bytes over `count` connections in one direction. */
export async function measureBytes(
  path: Path,
  targets: Targets,
  { direction, count, ms }: { direction: 'up' | 'down'; count: number; ms: number },
): Promise<BytesSample> {
  let read = 0;
  const sockets = await Promise.all(Array.from({ length: count }, () => connect(direction === 'up' ? path.sink : path.source)));
  for (const socket of sockets) {
    if (direction === 'up') pour(socket);
    else socket.on('data', (chunk) => (read += chunk.length));
  }
  const moved = (): number => (direction === 'up' ? targets.swallowed() : read);
  await pause(WARM_UP_MS);
  const [bytesBefore, cpuBefore, before] = [moved(), await totalCpu(path.hops), performance.now()];
  await pause(ms);
  const [bytes, seconds] = [moved() - bytesBefore, (performance.now() - before) / 1000];
  const cpu = (await totalCpu(path.hops)) - cpuBefore;
  for (const socket of sockets) socket.resetAndDestroy();
  await pause(50);
  return { bytesPerSecond: bytes / seconds, cpuSecondsPerGigabyte: (cpu / bytes) * 1e9 };
}

/** New connections a second: connect, one byte there and back, orderly close on both sides. */
export async function measureConnections(path: Path, { parallel, ms }: { parallel: number; ms: number }): Promise<number> {
  const before = performance.now();
  const endAt = before + ms;
  let done = 0;
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (performance.now() < endAt) {
        await oneConnection(path.echo);
        done += 1;
      }
    }),
  );
  return done / ((performance.now() - before) / 1000);
}

function oneConnection(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    socket.on('error', reject);
    socket.on('data', () => socket.end());
    socket.on('end', () => resolve());
    socket.write('x');
  });
}

/** Round trips of a small message on one connection, in milliseconds each. */
export async function measureEcho(path: Path, { ms }: { ms: number }): Promise<number[]> {
  const socket = await connect(path.echo);
  const message = Buffer.alloc(64, 'e');
  const times: number[] = [];
  const endAt = performance.now() + ms;
  while (performance.now() < endAt) {
    const before = performance.now();
    socket.write(message);
    for (let got = 0; got < message.length;) got += ((await once(socket, 'data')) as [Buffer])[0].length;
    times.push(performance.now() - before);
  }
  socket.resetAndDestroy();
  return times;
}

/** Keeps one bulk connection running while `work` is done; both of its ends are in processes of their own. */
export async function whileSaturated<T>(path: Path, work: () => Promise<T>): Promise<T> {
  const drain = await BenchProcess.start('drain', { port: path.source });
  await pause(WARM_UP_MS);
  try {
    return await work();
  } finally {
    await drain.process.stop();
    await pause(50);
  }
}

async function connect(port: number): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  return socket;
}
