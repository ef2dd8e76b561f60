import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { AgentError } from '../../agent/core/errors.ts';
import { TestAgent, TunnelServer } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startServer(...args: ConstructorParameters<typeof TunnelServer>): Promise<TunnelServer> {
  const server = await new TunnelServer(...args).listen();
  cleanups.push(() => server.close());
  return server;
}

function startAgent(server: TunnelServer, port = server.port): TestAgent {
  const agent = new TestAgent(server.sessions.add(), port).start();
  cleanups.push(() => agent.stop());
  return agent;
}

async function connected(server: TunnelServer, agent: TestAgent): Promise<void> {
  await waitUntil('the agent is ready', () => server.registry.epoch(agent.identity.agentId) !== undefined && agent.link.epoch !== undefined);
}

const command = { router: 'one', hardware_id: 'HW1', path: '/ip/address/print', words: [] };

describe('a command over the tunnel', () => {
  test('gets its rows and its reply', async () => {
    const server = await startServer();
    const agent = startAgent(server);
    agent.requests.command = async (params, { sendRows }) => {
      await sendRows([{ '.id': '*1', path: params.path }]);
      return { ret: '*1' };
    };
    await connected(server, agent);
    const rows: unknown[] = [];
    const reply = await server.registry.request(agent.identity.agentId, 'command', command, {
      timeoutMs: 2000,
      onRows: (batch) => rows.push(...batch),
    });
    expect(reply).toEqual({ ret: '*1' });
    expect(rows).toEqual([{ '.id': '*1', path: '/ip/address/print' }]);
  });

  test('brings the router\'s refusal as an error with its category', async () => {
    const server = await startServer();
    const agent = startAgent(server);
    agent.requests.command = () => Promise.reject(new AgentError('rejected', 'no such command', { category: 0 }));
    await connected(server, agent);
    await expect(
      server.registry.request(agent.identity.agentId, 'command', command, { timeoutMs: 2000 }),
    ).rejects.toMatchObject({ code: 'rejected_by_router', message: 'no such command', extra: { category: 0 } });
  });

  test('fails at once when the agent has no tunnel', async () => {
    const server = await startServer();
    await expect(
      server.registry.request(randomUUID(), 'command', command, { timeoutMs: 60_000 }),
    ).rejects.toMatchObject({ code: 'agent_offline' });
  });
});
