import { afterEach, expect, test } from 'vitest';
import { StallProxy } from '../harness/stall-proxy.ts';
import { TestAgent, TunnelServer } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Small and repeatable; Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

test('when tunnels are cut under load, every request ends, answers reach their own caller, and epochs only rise', async () => {
  const random = seeded(7);
  const server = await new TunnelServer({ pingMs: 200, silenceMs: 500 }).listen();
  const proxy = await StallProxy.start(server.port);
  cleanups.push(
    () => server.close(),
    () => proxy.close(),
  );
  const agents = Array.from({ length: 10 }, () => new TestAgent(server.sessions.add(), proxy.port).start());
  for (const agent of agents) {
    cleanups.push(() => agent.stop());
    agent.requests.command = async ({ path }, { sendRows }) => {
      await sendRows(Array.from({ length: 20 }, () => ({ path, pad: 'x'.repeat(1000) })));
      return { ret: path };
    };
  }
  const tally = { answered: 0, failed: 0, wrong: 0 };
  const ask = async (agentId: string, path: string): Promise<void> => {
    const params = { router: 'one', hardware_id: 'HW1', path, words: [] };
    const onRows = (rows: Record<string, string>[]): void => {
      if (rows.some((row) => row['path'] !== path)) tally.wrong += 1;
    };
    try {
      const { ret } = await server.registry.request(agentId, 'command', params, { timeoutMs: 2000, onRows });
      if (ret !== path) tally.wrong += 1;
      tally.answered += 1;
    } catch {
      tally.failed += 1;
    }
  };
  let asked = 0;
  for (let round = 0; round < 12; round += 1) {
    await waitUntil('all agents are ready', () => agents.every(({ identity }) => server.registry.epoch(identity.agentId) !== undefined));
    const burst = agents.flatMap(({ identity }) => Array.from({ length: 20 }, () => ask(identity.agentId, `/${(asked += 1)}`)));
    if (random() < 0.7) setImmediate(() => proxy.cut());
    await Promise.all(burst);
  }
  expect(tally.answered + tally.failed).toBe(asked);
  expect(tally.wrong).toBe(0);
  expect(tally.answered).toBeGreaterThan(asked / 10);
  for (const { log } of agents) {
    const epochs = log.filter((line) => line.startsWith('ready #')).map((line) => Number(line.slice(7)));
    expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
    expect(new Set(epochs).size).toBe(epochs.length);
  }
});
