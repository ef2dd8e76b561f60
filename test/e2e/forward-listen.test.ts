import { once } from 'node:events';
import net from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../server/platform/core/clock.ts';
import { Listeners } from '../../server/platform/core/listeners.ts';
import { listenOnFreePort, unusedPorts } from '../../server/work/forwards/creation.ts';
import { ForwardEntries } from '../../server/work/forwards/entry/forward-entries.ts';
import { FORWARD_LIMITS } from '../../server/work/forwards/limits.ts';
import type { ForwardChange, ForwardRecord, ForwardSettings } from '../../server/work/forwards/types.ts';
import { ForwardWorld } from '../harness/forward-world.ts';
import type { WorldOptions } from '../harness/forward-world.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Forwards whose ports cannot be opened. */

let world: ForwardWorld;
const others: net.Server[] = [];
afterEach(async () => {
  for (const other of others.splice(0)) other.close();
  await world.close();
});

async function open(options?: WorldOptions): Promise<ForwardWorld> {
  world = await ForwardWorld.open(options);
  return world;
}

/** Another program takes a port. */
async function take(port: number): Promise<void> {
  const other = net.createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  others.push(other);
}

const ofSystem = (code: string, errno: number): Error => Object.assign(new Error(`listen ${code}`), { code, errno, syscall: 'listen' });

describe('a new forward', () => {
  it('finds the only free port of its range', async () => {
    await open({ ports: { from: 19_210, to: 19_249 } });
    for (let port = 19_210; port <= 19_249; port += 1) if (port !== 19_233) await take(port);
    expect((await world.create({ dstPort: 9 })).record.port).toBe(19_233);
    await expect(world.create({ dstPort: 9 })).rejects.toMatchObject({
      code: 'unavailable',
      message: 'every port for forwards is in use; other programs hold 39 of them',
    });
  });

  it.each([
    ['EMFILE', -24, 'too many open files'],
    ['EADDRNOTAVAIL', -99, 'address not available'],
  ])('is refused with the reason when no other port would work (%s), and leaves no record and no port', async (code, errno, words) => {
    await open({ ports: { from: 19_250, to: 19_250 } });
    const { record } = await world.create({ dstPort: 9 });
    const settings = { ports: { from: 19_250, to: 19_259 } } as ForwardSettings;
    const deps = {
      storage: world.storage,
      clock: systemClock,
      limits: FORWARD_LIMITS,
      settings,
      portsUse: unusedPorts(settings, FORWARD_LIMITS),
    };
    const tried: number[] = [];
    const listen = async (port: number): Promise<void> => {
      tried.push(port);
      throw ofSystem(code, errno);
    };
    await expect(listenOnFreePort(deps, record, listen)).rejects.toMatchObject({
      code: 'unavailable',
      message: `port 19250 cannot be opened: ${words} (${code})`,
    });
    expect(tried).toEqual([19_250]);
  });

  it('that could not be opened leaves no record and no reserved port', async () => {
    await open({ ports: { from: 19_260, to: 19_260 } });
    await take(19_260);
    await expect(world.create({ dstPort: 9 })).rejects.toMatchObject({ code: 'unavailable' });
    const { teamId, routerId } = world.seeded;
    expect(await world.forwards.list(teamId, routerId, { limit: 10, before: undefined })).toEqual([]);
    others.splice(0)[0]!.close();
    expect((await world.create({ dstPort: 9 })).record.port).toBe(19_260);
  });
});

describe('a forward whose port another program took while the control plane was down', () => {
  async function restartWhileTaken(): Promise<ForwardRecord> {
    await open({ limits: { retryMs: 50 } });
    const { record } = await world.create({ dstPort: await world.target((socket) => socket.end('the target')) });
    await world.forwards.stop();
    await take(record.port);
    await world.restartServer();
    return record;
  }

  it('reports it and is not authorised until it listens again', async () => {
    const before = await restartWhileTaken();
    const reason = `port ${before.port} is held by another program`;
    const held = async (): Promise<ForwardRecord | false> => {
      const { record } = await world.get(before.id);
      return record.way === 'direct' && record;
    };
    expect(await waitUntil('the way is open', held)).toMatchObject({ authorized_at: null, way_reason: reason });
    const told: ForwardChange[] = [];
    world.forwards.changes.subscribe((change) => told.push(change));
    world.gateway.currentEpoch += 1;
    world.forwards.onReady(world.connection);
    await waitUntil('the agent is back', () => told.length === 1);
    expect((await world.get(before.id)).record).toMatchObject({ authorized_at: null, way_reason: reason });
    others.splice(0)[0]!.close();
    await waitUntil('it is authorised', async () => (await world.get(before.id)).record.authorized_at !== null);
    expect((await world.get(before.id)).record).toMatchObject({ port: before.port, way: 'direct', way_reason: before.way_reason });
    expect(told.map(({ kind }) => kind)).toEqual(['lost', 'authorized']);
    const client = net.connect(before.port, '127.0.0.1');
    expect(String((await once(client, 'data'))[0])).toBe('the target');
    client.destroy();
  });

  it('is still reachable through the other entries', async () => {
    const { team_id: team, router_id: router, id } = await restartWhileTaken();
    const acceptor = await world.forwards.acceptor(team, router, id, 'by WebSocket');
    const stream = Object.assign(new PassThrough(), { resetAndDestroy: () => stream.destroy() });
    const ended = new Promise((resolve) => acceptor.accept(stream, 'by WebSocket', resolve));
    expect(await ended).toBe('closed');
  });
});

describe('a control plane whose settings name a foreign address', () => {
  const entries = (settings: Partial<ForwardSettings>): ForwardEntries => {
    const all = {
      host: 'localhost',
      listen: '127.0.0.1',
      ports: { from: 19_270, to: 19_279 },
      allowPrivateSources: true,
      idleSeconds: null,
      ...settings,
    };
    return new ForwardEntries({
      storage: world.storage,
      clock: systemClock,
      log: silentLog,
      limits: FORWARD_LIMITS,
      portsUse: unusedPorts(all, FORWARD_LIMITS),
      settings: all,
      changes: new Listeners(),
      reopen: () => undefined,
      track: () => undefined,
    });
  };

  it('refuses to start and names the setting', async () => {
    await open();
    await expect(entries({ listen: '192.0.2.77' }).check()).rejects.toMatchObject({
      message: 'SIGNALBOX_FORWARD_LISTEN: 192.0.2.77 cannot be listened on: address not available (EADDRNOTAVAIL)',
    });
    await entries({}).check();
  });

  it('refuses to start when another program uses the port of the TLS name entry', async () => {
    await open();
    await take(19_279);
    const names = { domain: 'forward.example.net', listen: { host: '127.0.0.1', port: 19_279 }, publicPort: undefined };
    await expect(entries({ names }).start(() => undefined)).rejects.toMatchObject({
      message: 'SIGNALBOX_FORWARD_NAME_LISTEN: 127.0.0.1:19279 cannot be listened on: address already in use (EADDRINUSE)',
    });
  });
});
