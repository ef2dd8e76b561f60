import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRouterFile } from '../../agent/jobs/router/read-file.ts';
import type { RouterAdapter } from '../../agent/routers/adapter.ts';
import { AgentRouters, reachable } from '../harness/agent-router.ts';
import type { Simulator, SimulatorOptions } from '../simulator/index.ts';

/** Files of a router that has no SSH. */

const LIMIT = { timeoutMs: 10_000, maxBytes: 1_000_000 };
const BINARY = { name: 'some.backup', isText: false };
const TEXT = { name: 'some.rsc', isText: true };

let routers: AgentRouters;
beforeEach(() => {
  routers = new AgentRouters();
});
afterEach(() => routers.close());

async function router(options: Partial<SimulatorOptions>): Promise<{ simulator: Simulator; adapter: RouterAdapter }> {
  const simulator = await routers.simulate({ sshPort: null, ...options });
  const adapter = await routers.adapter(routers.config(simulator, { api: true }));
  await reachable(adapter);
  return { simulator, adapter };
}

test('binary files are read in chunks unchanged, from 7.13 on', async () => {
  const { simulator, adapter } = await router({ version: '7.13' });
  const content = randomBytes(150_001);
  simulator.router.files.write(BINARY.name, content);
  expect(await readRouterFile(adapter, BINARY, LIMIT)).toEqual(content);
});

test('texts are read completely, even if a chunk ends inside a character', async () => {
  const { simulator, adapter } = await router({ version: '7.13' });
  const content = Buffer.from(`x${'Łódź€ '.repeat(15_000)}`);
  simulator.router.files.write(TEXT.name, content);
  expect((await readRouterFile(adapter, TEXT, LIMIT)).equals(content)).toBe(true);
});

test.each(['6.49.10', '7.12.1'])('RouterOS %s returns short texts only', async (version) => {
  const { simulator, adapter } = await router({ version });
  simulator.router.files.write(TEXT.name, 'short');
  expect(String(await readRouterFile(adapter, TEXT, LIMIT))).toBe('short');
  simulator.router.files.write(TEXT.name, 'long '.repeat(1000));
  simulator.router.files.write(BINARY.name, randomBytes(100));
  for (const file of [TEXT, BINARY]) {
    await expect(readRouterFile(adapter, file, LIMIT)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('by SSH, or by the API from 7.13'),
    });
  }
});

test('a file that is too large is not fetched at all', async () => {
  const { simulator, adapter } = await router({});
  simulator.router.files.write(BINARY.name, randomBytes(2000));
  await expect(readRouterFile(adapter, BINARY, { ...LIMIT, maxBytes: 1000 })).rejects.toMatchObject({ code: 'not_allowed' });
});
