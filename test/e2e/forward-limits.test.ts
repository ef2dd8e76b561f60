import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Log } from '../../server/platform/core/log.ts';
import type { ForwardRecord, ForwardView, ListedConnection } from '../../server/work/forwards/types.ts';
import { ForwardWorld } from '../harness/forward-world.ts';
import type { WorldOptions } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Limits of a forward for its creator, its team and its router. */

let world: ForwardWorld;
afterEach(() => world.close());

async function open(options?: WorldOptions): Promise<ForwardWorld> {
  world = await ForwardWorld.open(options);
  return world;
}

function connect(port: number, host = '127.0.0.1'): net.Socket {
  const socket = net.connect({ port, host });
  socket.on('error', () => undefined);
  return socket;
}

async function echoed(socket: net.Socket, text = 'hello'): Promise<void> {
  socket.write(text);
  expect(String((await once(socket, 'data'))[0])).toBe(text);
}

const echo = (): Promise<number> => world.target((socket) => socket.pipe(socket));
const revoke = ({ record }: ForwardView): Promise<ForwardRecord> => world.forwards.revoke(record.team_id, record.router_id, record.id);
const closeOf = (socket: net.Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));
const logOf = ({ team_id: team, router_id: router, id }: ForwardRecord): Promise<ListedConnection[]> =>
  world.forwards.connections(team, router, id, { limit: 10, before: undefined });

describe('an idle limit', () => {
  it('closes idle connections and no others', async () => {
    const clock = new ManualClock(Date.now());
    await open({ clock });
    const { record } = await world.create({ dstPort: await echo(), idleSeconds: 60 });
    expect(record.idle_seconds).toBe(60);
    const [idle, busy] = [connect(record.port), connect(record.port)];
    await Promise.all([echoed(idle), echoed(busy)]);
    clock.advance(30_000);
    await echoed(busy);
    clock.advance(29_000);
    expect(idle.destroyed).toBe(false);
    const cut = closeOf(idle);
    clock.advance(16_000);
    await cut;
    await echoed(busy);
    const log = await waitUntil('it is logged', async () => {
      const connections = (await logOf(record)).filter(({ closed_at }) => closed_at !== null);
      return connections.length === 1 && connections;
    });
    expect(log[0]).toMatchObject({ ended_by: 'idle', bytes_in: 5, bytes_out: 5 });
    busy.destroy();
  });

  it('defaults to the configured one and can be switched off', async () => {
    await open({ settings: { idleSeconds: 900 } });
    const target = await echo();
    expect((await world.create({ dstPort: target })).record.idle_seconds).toBe(900);
    expect((await world.create({ dstPort: target, idleSeconds: null })).record.idle_seconds).toBeNull();
    expect((await world.create({ dstPort: target, idleSeconds: 10 })).record.idle_seconds).toBe(10);
  });
});

describe('connections at the same time', () => {
  it('are limited to the requested number; one more is reset and counted, also after a restart', async () => {
    await open();
    const view = await world.create({ dstPort: await echo(), maxConnections: 2 });
    expect(view.maxConnections).toBe(2);
    await world.restartServer();
    await waitUntil('it is open again', async () => (await world.get(view.record.id)).record.way !== null);
    const [first, second] = [connect(view.record.port), connect(view.record.port)];
    await Promise.all([echoed(first), echoed(second)]);
    await closeOf(connect(view.record.port));
    const { team_id: team, router_id: router, id } = view.record;
    await expect(world.forwards.acceptor(team, router, id, 'by WebSocket')).rejects.toMatchObject({ code: 'conflict' });
    expect(await world.get(id)).toMatchObject({ openConnections: 2, record: { refused_attempts: 2 } });
    first.destroy();
    await waitUntil('there is room again', async () => (await world.get(view.record.id)).openConnections === 1);
    const third = connect(view.record.port);
    await echoed(third);
    for (const socket of [second, third]) socket.destroy();
  });
});

describe('open forwards', () => {
  it('of one router are limited; one more is a conflict until one ends', async () => {
    await open({ limits: { openPerRouter: 2 } });
    const [first] = [await world.create({ dstPort: 9 }), await world.create({ dstPort: 9 })];
    await expect(world.create({ dstPort: 9 })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('the router has 2'),
    });
    await revoke(first);
    await world.create({ dstPort: 9 });
  });

  it('of one team are limited over all routers', async () => {
    await open({ limits: { openPerTeam: 1 } });
    await world.create({ dstPort: 9 });
    const other = await seedRouter(world.storage);
    const request = { expireAfterMinutes: 10, dstAddress: '127.0.0.1', dstPort: 9, allowFrom: '127.0.0.1' };
    await world.forwards.create(other.teamId, other.routerId, { id: 'key' }, request);
    await expect(world.create({ dstPort: 9 })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('the team has 1'),
    });
  });

  it('keep their port reserved for ten minutes, and requests meanwhile get a retry time', async () => {
    const clock = new ManualClock(Date.now());
    // Below the ports that other tests and the system hand out.
    await open({ clock, ports: { from: 19_201, to: 19_202 } });
    const [first, second] = [await world.create({ dstPort: 9 }), await world.create({ dstPort: 9 })];
    await expect(world.create({ dstPort: 9 })).rejects.toMatchObject({ code: 'unavailable', message: 'every port for forwards is in use' });
    await revoke(first);
    clock.advance(60_000);
    await revoke(second);
    await expect(world.create({ dstPort: 9 })).rejects.toMatchObject({
      code: 'unavailable',
      message: 'every port for forwards is in use or in quarantine; the next one is free 9 minutes from now',
      retryAfterMs: 540_000,
    });
    clock.advance(540_000);
    expect((await world.create({ dstPort: 9 })).record.port).toBe(first.record.port);
    await expect(world.create({ dstPort: 9 })).rejects.toMatchObject({ retryAfterMs: 60_000 });
  });
});

describe('sources', () => {
  it.each([
    ['::1', '::1', true],
    ['::1/128', '127.0.0.1', false],
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '::1', false],
  ])('of IPv4 and IPv6 are distinguished on a dual-stack port: %s from %s', async (allowFrom, from, allowed) => {
    await open({ settings: { listen: '::' } });
    const { record } = await world.create({ dstPort: await echo(), allowFrom });
    const socket = connect(record.port, from);
    if (allowed) {
      await echoed(socket);
      socket.destroy();
      const log = await waitUntil('it is logged', async () => {
        const connections = await logOf(record);
        return connections.length === 1 && connections;
      });
      expect(log[0]!.source).toBe(`${from}:${log[0]!.source.split(':').at(-1)}`);
    } else {
      await closeOf(socket);
      expect((await world.get(record.id)).record.refused_attempts).toBe(1);
    }
  });

  it('that are refused cost one log line in total', async () => {
    const info = vi.fn<Log['info']>();
    await open({ log: { ...silentLog, info } });
    const { record } = await world.create({ dstPort: 9, allowFrom: '203.0.113.7' });
    for (let count = 0; count < 20; count += 1) await closeOf(connect(record.port));
    expect((await world.get(record.id)).record.refused_attempts).toBe(20);
    await logOf(record);
    const fields = { team_id: record.team_id, forward_id: record.id, source: '127.0.0.1', count: 20 };
    expect(info.mock.calls.filter(([, message]) => message === 'connection attempts refused')).toEqual([
      [fields, 'connection attempts refused'],
    ]);
  });
});
