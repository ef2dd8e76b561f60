import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ForwardChange } from '../../server/work/forwards/types.ts';
import { ForwardWorld } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** Forwards that lose their way while open, and agents that must no longer serve them. */

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe('a lost way', () => {
  async function open(): Promise<{ world: ForwardWorld; clock: ManualClock; changes: string[]; asked: () => number }> {
    const clock = new ManualClock(Date.now());
    const world = await ForwardWorld.open({ clock });
    closers.push(() => world.close());
    const changes: string[] = [];
    world.forwards.changes.subscribe(({ kind, forward }: ForwardChange) => changes.push(`${kind} ${forward.way}`));
    const asking = vi.spyOn(world.gateway.agentForwards!, 'open');
    return { world, clock, changes, asked: () => asking.mock.calls.length };
  }

  async function echoed(port: number): Promise<net.Socket> {
    const socket = net.connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.write('hello');
    expect(String((await once(socket, 'data'))[0])).toBe('hello');
    return socket;
  }

  it('is shown on the record, and another one is requested at once', async () => {
    const { world, clock, changes, asked } = await open();
    const { record } = await world.create({ dstPort: await world.target((socket) => socket.pipe(socket)) });
    const client = await echoed(record.port);
    clock.advance(60_000);
    const broken = new Promise((resolve) => client.once('close', resolve));
    await world.gateway.agentForwards!.close(record.id, 'lost');
    await broken;
    world.forwards.onForwardLost(world.connection, record.id, 'the rules are gone');
    await waitUntil('it is told', async () => (await world.get(record.id)).record.way_reason === 'the rules are gone');
    expect(asked()).toBe(1);
    clock.advance(0);
    await waitUntil('there is a way again', async () => (await world.get(record.id)).record.way === 'direct');
    expect(asked()).toBe(2);
    expect(changes).toEqual(['created null', 'authorized direct', 'lost null', 'authorized direct']);
    (await echoed(record.port)).destroy();
  });

  it('is not requested again at once when it was just found, so that no loop starts', async () => {
    const { world, clock, asked } = await open();
    const { record } = await world.create({ dstPort: 9 });
    world.forwards.onForwardLost(world.connection, record.id, 'gone');
    await waitUntil('it is told', async () => (await world.get(record.id)).record.way === null);
    clock.advance(14_999);
    expect(asked()).toBe(1);
    clock.advance(1);
    await waitUntil('it is asked for', () => asked() === 2);
  });

  it('cannot be reported by another agent or for an ended forward', async () => {
    const { world, changes } = await open();
    const { record } = await world.create({ dstPort: 9 });
    world.forwards.onForwardLost({ ...world.connection, agentId: 'another' }, record.id, 'gone');
    await world.forwards.revoke(record.team_id, record.router_id, record.id);
    world.forwards.onForwardLost(world.connection, record.id, 'gone');
    await world.forwards.stop();
    expect(changes).toEqual(['created null', 'authorized direct', 'closed direct']);
  });
});

describe('an agent that is revoked', () => {
  it('restores its routers without a message for each forward', async () => {
    const hosts = { '192.168.88.10': '127.0.0.1' };
    const world = await World.start({ routers: [{ hosts }] });
    closers.push(() => world.close());
    await world.agent!.close();
    await world.startAgent({ forwards: { allow: ['192.168.0.0/16'] } });
    const [routerId] = await world.routerIds();
    const [simulator] = world.simulators;
    const forwarding = (): string | undefined => simulator!.items('/ip/ssh')[0]?.['forwarding-enabled'];
    const body = { expire_after_minutes: 10, dst_port: 9, dst_address: '192.168.88.10', allow_from: '127.0.0.1' };
    const forward = await world.caller.call('POST', `/api/routers/${routerId}/transient-forwarding`, body);
    expect(forward.body).toMatchObject({ way: 'ssh' });
    expect(forwarding()).toBe('local');
    const { body: agents } = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/agents');
    expect((await world.caller.call('DELETE', `/api/agents/${agents.data[0]!.id}`)).status).toBe(204);
    await waitUntil('the router is as it was', () => forwarding() === 'no');
  });
});
