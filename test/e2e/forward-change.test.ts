import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ForwardWorld } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { eventually, waitUntil } from '../harness/wait-until.ts';
import type { ForwardChange } from '../../server/work/forwards/types.ts';

/** The end and the source of an open forward are changed. */

const MINUTE = 60_000;

let world: ForwardWorld;
let clock: ManualClock;
const sockets: net.Socket[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.destroy();
  await world.close();
});

async function open(): Promise<void> {
  clock = new ManualClock(Date.now());
  world = await ForwardWorld.open({ clock });
}

const echo = (): Promise<number> => world.target((socket) => socket.pipe(socket));
const isClosed = async (id: string): Promise<boolean> => (await world.get(id)).record.closed_at !== null;

/** @param from loopback address of the client */
async function connected(port: number, from = '127.0.0.1'): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress: from });
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write('hello');
  await once(socket, 'data');
  return socket;
}

async function isRefused(port: number, from: string): Promise<boolean> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress: from });
  sockets.push(socket);
  const [error] = (await once(socket, 'error').catch((cause: unknown) => [cause])) as [NodeJS.ErrnoException];
  return error.code === 'ECONNRESET';
}

describe('the end of a forward', () => {
  it('moves away: open connections go on, and the agent gets the new time', async () => {
    await open();
    const { record } = await world.create({ dstPort: await echo() });
    const socket = await connected(record.port);
    clock.advance(9 * MINUTE);
    const asked = vi.spyOn(world.gateway, 'request');
    const changed = await world.change(record.id, { expireAfterMinutes: 60 });
    expect(changed.record.expires_at).toBe(clock.now() + 60 * MINUTE);
    expect(asked.mock.calls.map(([, method, params]) => [method, 'expires_in_ms' in params && params.expires_in_ms])).toEqual([
      ['forward.open', 60 * MINUTE],
    ]);
    clock.advance(59 * MINUTE);
    socket.write('still there?');
    expect(String((await once(socket, 'data'))[0])).toBe('still there?');
    expect(await isClosed(record.id)).toBe(false);
    clock.advance(MINUTE);
    await waitUntil('the forward is closed', () => isClosed(record.id));
  });

  it('comes nearer', async () => {
    await open();
    const { record } = await world.create({ dstPort: 9, expireAfterMinutes: 1440 });
    await world.change(record.id, { expireAfterMinutes: 10 });
    clock.advance(10 * MINUTE - 1000);
    expect(await isClosed(record.id)).toBe(false);
    clock.advance(1000);
    await waitUntil('the forward is closed', () => isClosed(record.id));
  });

  it('is not later after a restart of the control plane with a clock that was set back', async () => {
    await open();
    const { record } = await world.create({ dstPort: 9, expireAfterMinutes: 1440 });
    clock.advance(20 * 60 * MINUTE);
    await world.change(record.id, { expireAfterMinutes: 10 });
    clock.step(-5 * 60 * MINUTE);
    await world.restartServer();
    clock.advance(10 * MINUTE);
    await waitUntil('the forward is closed', () => isClosed(record.id));
  });

  it('that is stored holds when the control plane is killed before the agent is asked', async () => {
    await open();
    const { record } = await world.create({ dstPort: 9 });
    const agent = world.gateway.agentForwards!;
    world.gateway.disconnect();
    await world.change(record.id, { expireAfterMinutes: 60 });
    world.gateway.agentForwards = agent;
    const asked = vi.spyOn(world.gateway, 'request');
    await world.restartServer();
    await eventually(() => expect(asked).toHaveBeenCalled());
    expect(asked.mock.calls[0]![2]).toMatchObject({ expires_in_ms: 60 * MINUTE });
    clock.advance(59 * MINUTE);
    expect(await isClosed(record.id)).toBe(false);
  });

  it('is refused for a forward that has ended, and nothing opens again', async () => {
    await open();
    const { record } = await world.create({ dstPort: 9 });
    clock.advance(10 * MINUTE);
    await waitUntil('the forward is closed', () => isClosed(record.id));
    await expect(world.change(record.id, { expireAfterMinutes: 60 })).rejects.toMatchObject({ code: 'conflict' });
    expect((await world.get(record.id)).record.expires_at).toBe(record.expires_at);
  });

  it('in the moment of the end leaves a record whose end is not in the future', async () => {
    await open();
    const { record } = await world.create({ dstPort: 9 });
    const change = world.change(record.id, { expireAfterMinutes: 60 }).catch((error: unknown) => error);
    clock.advance(10 * MINUTE);
    const result = await change;
    const isRefusedNow = result instanceof Error;
    if (isRefusedNow) await waitUntil('the forward is closed', () => isClosed(record.id));
    const { record: after } = await world.get(record.id);
    expect({ isClosed: after.closed_at !== null, isOver: after.expires_at <= clock.now() }).toEqual({
      isClosed: isRefusedNow,
      isOver: isRefusedNow,
    });
  });

  it('that was changed at the same time by two people is the one stored last', async () => {
    await open();
    const { record } = await world.create({ dstPort: 9 });
    await Promise.all([30, 20, 40, 15].map((expireAfterMinutes) => world.change(record.id, { expireAfterMinutes })));
    expect((await world.get(record.id)).record.expires_at).toBe(clock.now() + 15 * MINUTE);
    clock.advance(15 * MINUTE);
    await waitUntil('the forward is closed', () => isClosed(record.id));
  });

  it('reaches the router of an older agent by a new opening, because such an agent keeps the former end there', async () => {
    await open();
    const { record } = await world.create({ dstPort: await echo() });
    const request = world.gateway.request.bind(world.gateway);
    const methods: string[] = [];
    vi.spyOn(world.gateway, 'request').mockImplementation(async (agentId, method, params, options) => {
      methods.push(method);
      const { renewed: _, ...result } = (await request(agentId, method, params, options)) as { renewed?: true };
      return result as never;
    });
    await world.change(record.id, { expireAfterMinutes: 60 });
    expect(methods).toEqual(['forward.open', 'forward.close', 'forward.open']);
    expect(await connected(record.port)).toBeDefined();
  });

  it('is an event', async () => {
    await open();
    const { record } = await world.create({ dstPort: 9 });
    const changes: ForwardChange[] = [];
    world.forwards.changes.subscribe((change) => changes.push(change));
    const { record: changed } = await world.change(record.id, { expireAfterMinutes: 60, allowFrom: '127.0.0.2' });
    expect(changes[0]).toMatchObject({
      kind: 'updated',
      forward: { id: record.id, expires_at: changed.expires_at, allow_only_cidr: '127.0.0.2/32' },
    });
  });
});

describe('the source of a forward', () => {
  it('changes: connections from elsewhere end at once, those that it admits go on', async () => {
    await open();
    const { record } = await world.create({ dstPort: await echo(), allowFrom: '127.0.0.0/24' });
    const [ours, theirs] = [await connected(record.port, '127.0.0.1'), await connected(record.port, '127.0.0.7')];
    const over = new Promise((resolve) => theirs.once('close', resolve));
    const asked = vi.spyOn(world.gateway, 'request');
    const { record: changed } = await world.change(record.id, { allowFrom: '127.0.0.1' });
    expect(changed).toMatchObject({ allow_only_cidr: '127.0.0.1/32', expires_at: record.expires_at });
    await over;
    ours.write('still there?');
    expect(String((await once(ours, 'data'))[0])).toBe('still there?');
    expect(await isRefused(record.port, '127.0.0.7')).toBe(true);
    expect(asked).not.toHaveBeenCalled();
    const log = await world.forwards.connections(record.team_id, record.router_id, record.id, { limit: 10, before: undefined });
    expect(log.filter(({ closed_at: closedAt }) => closedAt !== null).map(({ ended_by: endedBy }) => endedBy)).toEqual(['source']);
  });

  it('is still the new one after a restart', async () => {
    await open();
    const { record } = await world.create({ dstPort: await echo() });
    await world.change(record.id, { allowFrom: '127.0.0.7' });
    await world.restartServer();
    expect(await isRefused(record.port, '127.0.0.1')).toBe(true);
    expect(await connected(record.port, '127.0.0.7')).toBeDefined();
  });

  it('has the limits of a new forward', async () => {
    await open();
    const { record } = await world.create({ dstPort: 9 });
    await expect(world.change(record.id, { allowFrom: '203.0.112.0/20' })).rejects.toMatchObject({
      code: 'invalid',
      errors: { allow_from: ['the prefix length must be from /24 to /32'] },
    });
  });
});
