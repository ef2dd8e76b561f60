import type { Socket } from 'node:net';
import { expect } from 'vitest';
import { ask, connectTo, receiveBytes, sendBytes, TargetServer } from './byte-stream.ts';
import type { Summary } from './byte-stream.ts';
import { processState } from './process-state.ts';
import type { ProcessState } from './process-state.ts';
import type { ProcessWorld } from './process-world.ts';
import { waitUntil } from './wait-until.ts';

/** What both the short and the long runs ask of a forward. */

/** Where a forward leads, and by which way. */
export interface Place {
  way: string;
  address: string;
  router: number;
}

export const DIRECT: Place = { way: 'direct', address: '127.0.0.1', router: 0 };
/** Through the sshd of router 0. */
export const SSH: Place = { way: 'ssh', address: '127.0.0.5', router: 0 };
/** Through a dst-nat rule of router 1. */
export const API: Place = { way: 'api', address: '127.0.0.5', router: 1 };

/** A forward by the way that is meant, to a target that answers. */
export async function openForward(world: ProcessWorld, port: number, place: Place): ReturnType<ProcessWorld['forward']> {
  const forward = await world.forward(port, place);
  expect(forward).toMatchObject({ way: place.way, target_reachable: true });
  return forward;
}

/** So many bytes each way on so many connections at the same time: every connection gets exactly what was sent on it. */
export async function exchangeAtOnce(
  world: ProcessWorld,
  place: Place,
  { connections, bytes }: { connections: number; bytes: number },
): Promise<void> {
  const served: Promise<[Summary, Summary]>[] = [];
  const target = await TargetServer.listen((socket) => {
    // The check whether the target answers says nothing.
    socket.once('data', (first: Buffer) => {
      socket.pause().unshift(first);
      const both = Promise.all([receiveBytes(socket), sendBytes(socket, bytes)]);
      // Awaited below.
      both.catch(() => undefined);
      served.push(both);
      socket.resume();
    });
  });
  try {
    const forward = await openForward(world, target.port, place);
    const clients = await Promise.all(
      Array.from({ length: connections }, () => {
        const socket = connectTo(forward.port);
        return Promise.all([receiveBytes(socket), sendBytes(socket, bytes)]);
      }),
    ).catch(async (error: unknown) => {
      const log = await world.connectionsOf(forward);
      throw new Error(`${String(error)}; the log: ${JSON.stringify(log)}; the agent: ${world.agent.output}`);
    });
    const targets = await Promise.all(served);
    const pairs = (all: [Summary, Summary][], from: 0 | 1): string[] =>
      all.map((pair) => `${pair[from].sha256} ${pair[from].bytes}`).sort();
    expect(pairs(targets, 0), 'uploaded').toEqual(pairs(clients, 1));
    expect(pairs(clients, 0), 'downloaded').toEqual(pairs(targets, 1));
    expect(clients.every(([received]) => received.bytes === bytes)).toBe(true);
    await world.revoke(forward);
    const log = (await world.connectionsOf(forward)).map(({ bytes_in: bytesIn, bytes_out: bytesOut, ended_by: endedBy }) => ({
      bytesIn,
      bytesOut,
      endedBy,
    }));
    expect(log).toEqual(Array.from({ length: connections }, () => ({ bytesIn: bytes, bytesOut: bytes, endedBy: 'closed' })));
  } finally {
    target.close();
  }
}

interface StallOptions {
  /** Readers that do not read, as many on each side. */
  readers: number;
  /** For how long, milliseconds. */
  forMs: number;
  /** What one stalled reader may cost one process. */
  mostBytesEach: number;
}

/** Beside what stalls: buffers of the engine that come and go. */
const SLACK_BYTES = 48 * 1024 * 1024;
/** Of how many answers the usual time is taken. */
const ECHOES = 8;
/** While readers stall an answer may take so many times as long as before, and so much more for the turns that they cost. */
const SLOWER_BY = 3;
const TURNS_MS = 25;
/** Buffers fill first, and others use the machine as well: so long after the stall's time the answers may come right. */
const COMES_RIGHT_MS = 12_000;

/** What an answer usually takes: the median of the last few, milliseconds. */
class Echoes {
  readonly #port: number;
  readonly #took: number[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  async next(): Promise<void> {
    const started = performance.now();
    expect(await ask(this.#port, 'ping')).toBe('ping');
    this.#took.push(performance.now() - started);
  }

  get usual(): number {
    const last = this.#took.slice(-ECHOES).sort((a, b) => a - b);
    return last[Math.floor(last.length / 2)] ?? Infinity;
  }

  get slowest(): number {
    return Math.max(...this.#took);
  }

  get all(): string {
    return this.#took.map((ms) => ms.toFixed(0)).join(' ');
  }
}

async function usualEcho(port: number): Promise<number> {
  const echoes = new Echoes(port);
  for (let n = 0; n < ECHOES; n += 1) await echoes.next();
  return echoes.usual;
}

/**
 * Clients that ask for everything and read nothing, and targets that do the same: while they stall neither process
 * grows without bound, and the answers to others come as soon as before.
 */
export async function stallReaders(world: ProcessWorld, place: Place, options: StallOptions): Promise<void> {
  const flood = Buffer.alloc(64 * 1024);
  const pour = (socket: Socket): void => {
    const more = (): void => {
      while (socket.writable && socket.write(flood));
    };
    socket.on('drain', more);
    more();
  };
  const target = await TargetServer.listen((socket) => {
    socket.once('data', (first) => {
      if (String(first) === 'flood') pour(socket.pause());
      else if (String(first.subarray(0, 1)) === '\0') socket.pause();
      else socket.end(first);
    });
  });
  const stalled: Socket[] = [];
  try {
    const forward = await openForward(world, target.port, place);
    expect(await ask(forward.port, 'hello')).toBe('hello');
    const bound = SLOWER_BY * (await usualEcho(forward.port)) + TURNS_MS;
    const before = statesOf(world);
    for (let n = 0; n < options.readers; n += 1) {
      const down = connectTo(forward.port).pause();
      down.write('flood');
      const up = connectTo(forward.port).pause();
      pour(up);
      stalled.push(down, up);
    }
    const until = performance.now() + options.forMs;
    const echoes = new Echoes(forward.port);
    let grown = 0;
    const limit = SLACK_BYTES + 2 * options.readers * options.mostBytesEach;
    while (performance.now() < until || (echoes.usual > bound && performance.now() < until + COMES_RIGHT_MS)) {
      await echoes.next();
      for (const [index, state] of statesOf(world).entries()) grown = Math.max(grown, state.residentBytes - before[index]!.residentBytes);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(echoes.slowest, 'the slowest echo, milliseconds').toBeLessThan(options.forMs + bound);
    expect(echoes.usual, `the usual echo, milliseconds, of ${echoes.all}`).toBeLessThanOrEqual(bound);
    expect(grown, 'bytes that the larger of the two processes grew by').toBeLessThan(limit);
    expect((await world.shown(forward)).open_connections).toBeGreaterThanOrEqual(stalled.length);
    // Targets that move again let what their clients sent before they went run out.
    for (const socket of stalled) socket.destroy();
    for (const socket of target.sockets) socket.resume().once('end', () => socket.end());
    await waitUntil('the stalled ones are gone', async () => (await world.shown(forward)).open_connections === 0);
    await world.revoke(forward);
  } finally {
    for (const socket of stalled) socket.destroy();
    target.close();
  }
}

/** Side by side: the agent's or sshd's delayed acknowledgements cost time, not work. */
const ROWS = 8;

interface LeakOptions {
  /** Connections before anything is measured: the engine compiles, fills its buffers and takes its time to collect. */
  warmUp: number;
  connections: number;
  /** Resident bytes of one process. */
  mostGrowth: number;
}

/** Connections one after another, in a few rows side by side: afterwards both processes hold what they held before. */
export async function oneAfterAnother(world: ProcessWorld, place: Place, { warmUp, connections, mostGrowth }: LeakOptions): Promise<void> {
  const target = await TargetServer.listen((socket) => socket.pipe(socket));
  try {
    const forward = await openForward(world, target.port, place);
    const run = async (count: number): Promise<void> => {
      const row = async (from: number): Promise<void> => {
        for (let n = from; n < count; n += ROWS) expect(await ask(forward.port, `connection ${n}`)).toBe(`connection ${n}`);
      };
      await Promise.all(Array.from({ length: ROWS }, (_unused, from) => row(from)));
    };
    await run(warmUp);
    const before = statesOf(world);
    await run(connections);
    await waitUntil('none is open', async () => (await world.shown(forward)).open_connections === 0 && target.sockets.length === 0);
    for (const [index, after] of statesOf(world).entries()) {
      expect(after.descriptors, `descriptors, ${index === 0 ? 'control plane' : 'agent'}`).toBeLessThanOrEqual(
        before[index]!.descriptors + 2 * ROWS,
      );
      expect(after.residentBytes - before[index]!.residentBytes, `bytes grown, ${index === 0 ? 'control plane' : 'agent'}`).toBeLessThan(
        mostGrowth,
      );
    }
    await world.revoke(forward);
  } finally {
    target.close();
  }
}

function statesOf(world: ProcessWorld): ProcessState[] {
  return [processState(world.server.pid), processState(world.agent.pid)];
}
