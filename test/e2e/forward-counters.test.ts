import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AppError } from '../../server/platform/core/errors.ts';
import type { ForwardRecord, ListedConnection } from '../../server/work/forwards/types.ts';
import { ForwardWorld } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** The counters of a forward: refused attempts, connections, and bytes while they flow. */

let world: ForwardWorld;
afterEach(async () => {
  vi.restoreAllMocks();
  await world.close();
});

const closeOf = (socket: net.Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));
const logOf = ({ team_id: team, router_id: router, id }: ForwardRecord): Promise<ListedConnection[]> =>
  world.forwards.connections(team, router, id, { limit: 10, before: undefined });

function connect(port: number): net.Socket {
  const socket = net.connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  return socket;
}

async function echoed(socket: net.Socket, bytes: number): Promise<void> {
  socket.write(Buffer.alloc(bytes));
  let received = 0;
  while (received < bytes) received += ((await once(socket, 'data'))[0] as Buffer).length;
}

async function traffic(id: string): Promise<object> {
  const { connectionCount, bytesIn, bytesOut } = await world.get(id);
  return { connectionCount, bytesIn, bytesOut };
}

describe('traffic', () => {
  it('is counted while it flows, after its end, and across a restart', async () => {
    world = await ForwardWorld.open({ clock: new ManualClock(Date.now()) });
    const { record } = await world.create({ dstPort: await world.target((socket) => socket.pipe(socket)) });
    expect(await traffic(record.id)).toEqual({ connectionCount: 0, bytesIn: 0, bytesOut: 0 });
    const [first, second] = [connect(record.port), connect(record.port)];
    await Promise.all([echoed(first, 100), echoed(second, 20)]);
    const all = { connectionCount: 2, bytesIn: 120, bytesOut: 120 };
    expect(await traffic(record.id)).toEqual(all);
    first.destroy();
    await waitUntil('the first is over', async () => (await world.get(record.id)).openConnections === 1);
    expect(await traffic(record.id)).toEqual(all);
    expect((await logOf(record)).map(({ ended_by }) => ended_by).sort()).toEqual(['closed', 'open']);
    expect(await traffic(record.id)).toEqual(all);
    await world.restartServer();
    expect(await traffic(record.id)).toEqual(all);
    await echoed(connect(record.port), 3);
    expect(await traffic(record.id)).toEqual({ connectionCount: 3, bytesIn: 123, bytesOut: 123 });
  });
});

describe('a refused attempt', () => {
  it('is counted while earlier ones are being stored, and after a failed write', async () => {
    world = await ForwardWorld.open({ clock: new ManualClock(Date.now()) });
    const { record } = await world.create({ dstPort: 9, allowFrom: '203.0.113.7' });
    const refused = async (): Promise<number> => (await world.get(record.id)).record.refused_attempts;
    const gate = Promise.withResolvers<void>();
    const { writes } = world.storage;
    const write = writes.write.bind(writes);
    const spy = vi.spyOn(writes, 'write').mockImplementation(async (work) => {
      const done = await write(work);
      await gate.promise;
      return done;
    });
    await closeOf(connect(record.port));
    const stored = logOf(record);
    await waitUntil('it is being stored', () => spy.mock.calls.length > 0);
    await closeOf(connect(record.port));
    gate.resolve();
    await stored;
    expect(await refused()).toBe(2);
    spy.mockRejectedValueOnce(new AppError('unavailable', 'the disk is full'));
    await logOf(record);
    expect(await refused()).toBe(2);
    await logOf(record);
    await world.restartServer();
    expect(await refused()).toBe(2);
  });
});
