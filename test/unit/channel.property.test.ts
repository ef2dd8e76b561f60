import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Channel } from '../../protocol/channel.ts';
import type { ChannelConnection } from '../../protocol/channel-connection.ts';
import { FakeChannelSocket, fakeSocketPair } from '../harness/fake-channel-socket.ts';

/**
 * Two channels over a WebSocket in memory. Client and target do what fast-check says while messages move in any order. In all cases
 * no side sees a byte of another connection, normal ends deliver every byte, and the channel is free (never closed) once the
 * connection is over.
 */

type Side = 'client' | 'target';
type Action =
  | { do: 'write'; side: Side; size: number }
  | { do: 'end'; side: Side }
  | { do: 'break'; side: Side }
  | { do: 'deliver'; from: 'opener' | 'accepter'; count: number }
  | { do: 'turn' };

const side = fc.constantFrom<Side>('client', 'target');
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), side, size: fc.integer({ min: 1, max: 90_000 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), side }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('break' as const), side }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('deliver' as const),
      from: fc.constantFrom('opener' as const, 'accepter' as const),
      count: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ do: 'turn' as const }) },
);

/** The bytes that one side of one connection writes: any mix-up changes them. */
class Tape {
  readonly seed: number;
  written = 0;
  ended = false;
  broken = false;
  received: Buffer[] = [];
  sawEnd = false;

  constructor(connection: number, side: Side) {
    this.seed = connection * 2 + (side === 'client' ? 0 : 1);
  }

  next(size: number): Buffer {
    const chunk = bytesOf(this.seed, this.written, size);
    this.written += size;
    return chunk;
  }
}

function bytesOf(seed: number, from: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i < size; i += 1) bytes[i] = (seed * 37 + (from + i) * 7 + ((from + i) >> 8)) & 0xff;
  return bytes;
}

class Party {
  readonly tape: Tape;
  readonly #stream: Duplex;

  constructor(stream: Duplex, tape: Tape) {
    this.#stream = stream;
    this.tape = tape;
    stream.on('data', (chunk: Buffer) => tape.received.push(chunk));
    stream.on('end', () => (tape.sawEnd = true));
    stream.on('error', () => undefined);
  }

  write(size: number): void {
    if (this.tape.ended || this.#stream.destroyed) return;
    this.#stream.write(this.tape.next(size));
  }

  end(): void {
    if (this.tape.ended || this.#stream.destroyed) return;
    this.tape.ended = true;
    this.#stream.end();
  }
}

class World {
  readonly sockets: [FakeChannelSocket, FakeChannelSocket] = fakeSocketPair();
  readonly opener: Channel;
  readonly accepter: Channel;
  closed: string[] = [];
  incoming: ChannelConnection | undefined;

  constructor() {
    const onClosed = (reason: string): void => void this.closed.push(reason);
    this.opener = new Channel(this.sockets[0], 'opener', { onClosed });
    this.accepter = new Channel(this.sockets[1], 'accepter', {
      onClosed,
      onConnection: (connection) => {
        this.incoming = connection;
      },
    });
  }

  /** Lets everything that can move, move. */
  async settle(): Promise<void> {
    for (let idle = 0; idle < 3;) {
      const moved = [this.sockets[0].deliver(), this.sockets[1].deliver()].some(Boolean);
      await new Promise((resolve) => setImmediate(resolve));
      idle = moved ? 0 : idle + 1;
    }
  }
}

interface Run {
  client: Party;
  target: Party;
  /** Breaks the socket on one side of the channel. */
  breakLink: Record<Side, () => void>;
}

function startConnection(world: World, index: number): { run: Run; attachTarget: () => void } {
  const outgoing = world.opener.open();
  expect(outgoing).toBeDefined();
  const [clientOuter, clientInner] = duplexPair();
  const [targetOuter, targetInner] = duplexPair();
  outgoing!.attach(clientInner);
  const run: Run = {
    client: new Party(clientOuter, new Tape(index, 'client')),
    target: new Party(targetOuter, new Tape(index, 'target')),
    breakLink: { client: () => clientInner.destroy(), target: () => targetInner.destroy() },
  };
  let attached = false;
  const attachTarget = (): void => {
    if (attached || !world.incoming) return;
    attached = true;
    world.incoming.attach(targetInner);
    world.incoming = undefined;
  };
  return { run, attachTarget };
}

async function perform(world: World, run: Run, step: Action): Promise<void> {
  switch (step.do) {
    case 'write':
      run[step.side].write(step.size);
      break;
    case 'end':
      run[step.side].end();
      break;
    case 'break':
      run[step.side].tape.broken = true;
      run.breakLink[step.side]();
      break;
    case 'deliver':
      for (let i = 0; i < step.count; i += 1) world.sockets[step.from === 'opener' ? 0 : 1].deliver();
      break;
    case 'turn':
      await new Promise((resolve) => setImmediate(resolve));
      break;
  }
}

function check(run: Run): void {
  const broken = run.client.tape.broken || run.target.tape.broken;
  for (const [from, to] of [
    [run.client, run.target],
    [run.target, run.client],
  ] as const) {
    const got = Buffer.concat(to.tape.received);
    expect(got.length).toBeLessThanOrEqual(from.tape.written);
    expect(got.equals(bytesOf(from.tape.seed, 0, got.length))).toBe(true);
    if (!broken) {
      expect(got.length).toBe(from.tape.written);
      expect(to.tape.sawEnd).toBe(true);
    }
  }
}

describe('channel', () => {
  let world: World;
  afterEach(() => world.opener.terminate('test over'));

  it('delivers exactly the bytes of the right connection in any interleaving', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(action, { maxLength: 25 }), { minLength: 1, maxLength: 4 }), async (connections) => {
        world = new World();
        for (const [index, steps] of connections.entries()) {
          const { run, attachTarget } = startConnection(world, index);
          for (const step of steps) {
            await perform(world, run, step);
            attachTarget();
          }
          run.client.end();
          run.target.end();
          await world.settle();
          attachTarget();
          await world.settle();
          check(run);
          expect(world.closed).toEqual([]);
          expect([world.opener.free, world.accepter.free]).toEqual([true, true]);
        }
        world.opener.terminate('done');
      }),
      { numRuns: 300 },
    );
  });
});
