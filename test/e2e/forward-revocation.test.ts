import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AgentForwards } from '../../agent/forward/agent-forwards.ts';
import type { ForwardRecord } from '../../server/work/forwards/types.ts';
import { ForwardWorld } from '../harness/forward-world.ts';
import type { WorldOptions } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent } from '../harness/seed.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** An ended forward must end at the agent too, whatever was down at that time. */

let world: ForwardWorld;
afterEach(async () => {
  vi.restoreAllMocks();
  await world.close();
});

async function open(options?: WorldOptions): Promise<ForwardWorld> {
  world = await ForwardWorld.open(options);
  return world;
}

async function echoForward(): Promise<ForwardRecord> {
  return (await world.create({ dstPort: await world.target((socket) => socket.pipe(socket)) })).record;
}

async function connected(port: number): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write('hello');
  await once(socket, 'data');
  return socket;
}

const closeOf = (socket: net.Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));

function goAway(): AgentForwards {
  const agentForwards = world.gateway.agentForwards!;
  world.gateway.agentForwards = undefined;
  return agentForwards;
}

function comeBack(agentForwards: AgentForwards): void {
  world.gateway.agentForwards = agentForwards;
  world.gateway.currentEpoch += 1;
  world.forwards.onReady(world.connection);
}

const revoke = (record: ForwardRecord): Promise<ForwardRecord> => world.forwards.revoke(record.team_id, record.router_id, record.id);
const failNextWrite = (): unknown => vi.spyOn(world.storage.writes, 'write').mockRejectedValueOnce(new Error('the disk is full'));
const closedAt = async (record: ForwardRecord): Promise<number | null> => (await world.get(record.id)).record.closed_at;

describe('a revocation', () => {
  it.each(['', ', even when the control plane was restarted in between'])(
    'reaches an agent that was offline when it reconnects%s',
    async (restarted) => {
      await open();
      const record = await echoForward();
      const agentForwards = goAway();
      const close = vi.spyOn(agentForwards, 'close');
      await revoke(record);
      if (restarted) await world.restartServer();
      comeBack(agentForwards);
      await waitUntil('the agent is told', () => close.mock.calls.some(([id]) => id === record.id));
    },
  );

  it('is not repeated to an agent whose forwards expired a day ago', async () => {
    const clock = new ManualClock(Date.now());
    await open({ clock });
    const [early, late] = [await echoForward(), (await world.create({ dstPort: 9, expireAfterMinutes: 60 })).record];
    const agentForwards = goAway();
    const close = vi.spyOn(agentForwards, 'close');
    await revoke(early);
    await revoke(late);
    clock.advance(10 * 60_000 + 24 * 3_600_000);
    comeBack(agentForwards);
    await waitUntil('the agent is told', () => close.mock.calls.length > 0);
    await world.forwards.stop();
    expect(close.mock.calls.map(([id]) => id)).toEqual([late.id]);
  });

  it('that could not be stored is still sent to the agent, and stored later', async () => {
    const clock = new ManualClock(Date.now());
    await open({ clock });
    const record = await echoForward();
    const close = vi.spyOn(world.gateway.agentForwards!, 'close');
    failNextWrite();
    await expect(revoke(record)).rejects.toThrow('the disk is full');
    expect(await closedAt(record)).toBeNull();
    await waitUntil('the agent is told', () => close.mock.calls.some(([id]) => id === record.id));
    clock.advance(15_000);
    await waitUntil('it is stored', async () => (await closedAt(record)) !== null);
    expect((await world.get(record.id)).record.revoked_at).not.toBeNull();
  });

  it('that failed succeeds when it is requested again', async () => {
    await open();
    const record = await echoForward();
    failNextWrite();
    await expect(revoke(record)).rejects.toThrow('the disk is full');
    await revoke(record);
    expect(await closedAt(record)).not.toBeNull();
  });

  it('that is repeated is sent to the agent again', async () => {
    await open();
    const record = await echoForward();
    await revoke(record);
    await world.restartServer();
    const close = vi.spyOn(world.gateway.agentForwards!, 'close');
    await revoke(record);
    await waitUntil('the agent is told', () => close.mock.calls.some(([id]) => id === record.id));
  });
});

it('an expiry that could not be stored is stored later', async () => {
  const clock = new ManualClock(Date.now());
  await open({ clock });
  const record = await echoForward();
  failNextWrite();
  clock.advance(10 * 60_000);
  await waitUntil('a retry is due', () => vi.mocked(world.storage.writes.write).mock.settledResults[0]?.type === 'rejected');
  await waitUntil('it is stored', async () => {
    clock.advance(1000);
    return (await closedAt(record)) !== null;
  });
  expect((await world.get(record.id)).record.revoked_at).toBeNull();
});

describe('an agent that no longer has the router', () => {
  it('carries nothing once it is revoked, and its token is refused, also after a restart', async () => {
    await open({ limits: { channelWaitMs: 50 } });
    const asked = vi.spyOn(world.gateway.agentForwards!, 'open');
    const record = await echoForward();
    const token = asked.mock.calls[0]![0].channel_token;
    const client = await connected(record.port);
    expect(world.forwards.authorizeChannel(token)).toBeDefined();

    const cut = closeOf(client);
    world.gateway.disconnect();
    await world.forwards.dropAgent(record.team_id, 'another agent');
    expect(client.destroyed).toBe(false);
    await world.forwards.dropAgent(record.team_id, world.seeded.agentId);
    await cut;
    expect(world.forwards.authorizeChannel(token)).toBeUndefined();
    expect((await world.get(record.id)).record).toMatchObject({ way: null, closed_at: null });
    const next = net.connect({ port: record.port, host: '127.0.0.1' });
    next.on('error', () => undefined);
    await closeOf(next);

    await world.restartServer();
    expect(world.forwards.authorizeChannel(token)).toBeUndefined();
  });

  it('is disconnected from the forward when another agent takes over the router', async () => {
    await open();
    const record = await echoForward();
    const client = await connected(record.port);
    const { agentId, teamId, routerId } = world.seeded;
    const oldAgent = goAway();
    world.gateway.others.set(agentId, oldAgent);
    const closed = vi.spyOn(oldAgent, 'close');
    const cut = closeOf(client);

    const newAgent = await seedAgent(world.storage, teamId);
    await world.storage.db.updateTable('routers').set({ agent_id: newAgent }).where('id', '=', routerId).execute();
    world.connectAgent();
    world.forwards.onRouterSeen({ ...world.connection, agentId: newAgent }, routerId);
    await cut;
    await waitUntil('the old agent is told', () => closed.mock.calls.some(([id]) => id === record.id));
    (await connected(record.port)).destroy();
  });
});
