import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../../agent/config.ts';
import type { RouterAdapter } from '../../agent/routers/adapter.ts';
import type { Simulator } from '../simulator/index.ts';
import { AgentRouters, reachable } from '../harness/agent-router.ts';
import { echo, forwardingOf, ForwardBranches, LAN_HOST, rulesOf } from '../harness/forward-branch.ts';

/** `forward_way` of a router in agent.yaml: whoever fixes the way gets that one or none. */
let routers: AgentRouters;
let branches: ForwardBranches;

beforeEach(() => {
  routers = new AgentRouters();
  branches = new ForwardBranches();
});
afterEach(async () => {
  await branches.close();
  await routers.close();
});

/** The only router of an agent whose agent.yaml says so. */
async function routerOf(
  way: string | undefined,
  ways = { api: true, ssh: true },
): Promise<{ simulator: Simulator; router: RouterAdapter }> {
  const simulator = await routers.simulate({ hosts: { [LAN_HOST]: '127.0.0.1' } });
  const { forward_way: _auto, ...router } = routers.config(simulator, ways);
  const file = path.join(await routers.stateFolder(), 'agent.yaml');
  const config = {
    server: 'http://127.0.0.1',
    credentials: 'credentials.json',
    state: 'state',
    routers: [{ ...router, ...(way ? { forward_way: way } : {}) }],
  };
  await writeFile(file, stringify(config));
  const adapter = await routers.adapter((await loadConfig(file)).routers[0]!);
  await reachable(adapter);
  return { simulator, router: adapter };
}

it.each([
  // What is there takes SSH first, and dials the router itself.
  [undefined, LAN_HOST, 'ssh', 'the router forwards over SSH'],
  ['auto', '127.0.0.1', 'direct', 'the target is the router itself'],
  ['api', LAN_HOST, 'api', 'fixed by the configuration of the agent'],
  ['ssh', '127.0.0.1', 'ssh', 'fixed by the configuration of the agent'],
  ['direct', '127.0.0.1', 'direct', 'fixed by the configuration of the agent'],
])('with forward_way %s, %s is reached by %s', async (fixed, host, name, reason) => {
  const { simulator, router } = await routerOf(fixed);
  const server = await branches.echoService();
  const chosen = await branches.choose(router, server, host);
  expect(chosen).toMatchObject({ way: { name }, reason, targetReachable: true });
  expect(await echo(chosen, 'hello')).toBe('hello');
  expect(rulesOf(simulator).length > 0).toBe(name === 'api');
  expect(forwardingOf(simulator)).toBe(name === 'ssh' ? 'local' : 'no');
  await chosen.way.close();
});

it.each([
  ['api', { api: false, ssh: true }],
  ['ssh', { api: true, ssh: false }],
])('uses no other way when %s is fixed and unavailable', async (fixed, ways) => {
  const { simulator, router } = await routerOf(fixed, ways);
  await expect(branches.choose(router, await branches.echoService())).rejects.toMatchObject({ code: 'unsupported' });
  expect(rulesOf(simulator)).toEqual([]);
  expect(forwardingOf(simulator)).toBe('no');
});

it('an unknown way is refused when the agent starts', async () => {
  await expect(routerOf('dst-nat')).rejects.toThrow(/forward_way/);
});
