import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ForwardWorld } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { eventually, waitUntil } from '../harness/wait-until.ts';

/** Expiry of a forward when the clock of the control plane is set or its machine sleeps. */

const MINUTES = 60_000;

let world: ForwardWorld;
afterEach(() => world.close());

async function open(): Promise<ManualClock> {
  const clock = new ManualClock(Date.now());
  world = await ForwardWorld.open({ clock });
  return clock;
}

async function errorOf(port: number): Promise<string | undefined> {
  const socket = net.connect({ port, host: '127.0.0.1' });
  const [error] = (await once(socket, 'error').catch((cause: unknown) => [cause])) as [NodeJS.ErrnoException];
  return error.code;
}

const isClosed = async (id: string): Promise<boolean> => (await world.get(id)).record.closed_at !== null;

describe('a forward of ten minutes', () => {
  it('ends half a minute after a clock jump past its expiry; its record shows it at once', async () => {
    const clock = await open();
    const { record } = await world.create({ dstPort: 9 });
    clock.step(20 * MINUTES);
    clock.advance(30_000);
    await waitUntil('the forward is closed', () => isClosed(record.id));
    expect(await errorOf(record.port)).toBe('ECONNREFUSED');
  });

  it('accepts no connection after its expiry, even before the next check', async () => {
    const clock = await open();
    let accepted = 0;
    const port = await world.target(() => (accepted += 1));
    const { record } = await world.create({ dstPort: port });
    clock.step(20 * MINUTES);
    expect(await errorOf(record.port)).toBe('ECONNRESET');
    await waitUntil('the forward is closed', () => isClosed(record.id));
    expect(accepted).toBe(0);
  });

  it('lasts ten minutes when the clock is set back', async () => {
    const clock = await open();
    const { record } = await world.create({ dstPort: 9 });
    clock.step(-48 * 60 * MINUTES);
    clock.advance(10 * MINUTES);
    await waitUntil('the forward is closed', () => isClosed(record.id));
  });

  it('created while the clock was two days ahead lasts ten more minutes after a restart, also at the agent', async () => {
    const clock = await open();
    clock.step(48 * 60 * MINUTES);
    const { record } = await world.create({ dstPort: 9 });
    clock.step(-48 * 60 * MINUTES);
    const asked = vi.spyOn(world.gateway, 'request');
    await world.restartServer();
    await eventually(() => expect(asked).toHaveBeenCalled());
    expect(asked.mock.calls[0]![2]).toMatchObject({ expires_in_ms: 10 * MINUTES });
    clock.advance(10 * MINUTES);
    await waitUntil('the forward is closed', () => isClosed(record.id));
  });

  it("that expired while the agent's machine slept is closed at the agent when it wakes up", async () => {
    const clock = await open();
    const { record } = await world.create({ dstPort: 9 });
    const agent = world.gateway.agentForwards!;
    world.gateway.disconnect();
    clock.advance(11 * MINUTES);
    await waitUntil('the forward is closed', () => isClosed(record.id));
    const close = vi.spyOn(agent, 'close');
    world.gateway.agentForwards = agent;
    world.gateway.currentEpoch += 1;
    world.forwards.onReady(world.connection);
    await eventually(() => expect(close).toHaveBeenCalledWith(record.id));
  });
});
