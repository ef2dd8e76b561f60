import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentError } from '../../agent/core/errors.ts';
import { ForwardAcceptor } from '../../agent/forward/acceptor.ts';
import type { ForwardOpenParams } from '../../agent/forward/types.ts';
import type { RouterAdapter } from '../../agent/routers/adapter.ts';
import { AgentRouters, reachable } from '../harness/agent-router.ts';
import { silentLog } from '../harness/silent-log.ts';
import { ManualTime } from '../simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../simulator/index.ts';

/** How a router whose device-mode forbids the scheduler gets rid of a forward's rules by itself: a script that waits. */

const SOON = { timeoutMs: 10_000 };
const FORWARD_ID = '01900000-0000-7000-8000-000000000001';
const LAN_HOST = '192.168.88.10';

let routers: AgentRouters;
let agents: ForwardAcceptor[];
let time: ManualTime;

beforeEach(() => {
  routers = new AgentRouters();
  agents = [];
  time = new ManualTime();
});

afterEach(async () => {
  for (const agent of agents) await agent.stop();
  await routers.close();
});

async function home(options: Partial<SimulatorOptions> = {}): Promise<{ simulator: Simulator; router: RouterAdapter }> {
  const simulator = await routers.simulate({ deviceMode: 'home', time, ...options });
  const router = await routers.adapter(routers.config(simulator, { api: true }));
  await reachable(router);
  return { simulator, router };
}

async function agentOf(router: RouterAdapter, stateFolder?: string): Promise<ForwardAcceptor> {
  const agent = new ForwardAcceptor({
    routers: new Map([[router.name, router]]),
    dialChannel: () => Promise.reject(new Error('no control plane here')),
    allow: ['192.168.0.0/16'],
    maxConnections: 10,
    onLost: () => undefined,
    stateFolder: stateFolder ?? (await routers.stateFolder()),
    clock: routers.clock,
    log: silentLog,
  });
  agent.start();
  agents.push(agent);
  return agent;
}

function params(router: RouterAdapter): ForwardOpenParams {
  return {
    router: router.name,
    hardware_id: router.state().facts!.hardwareId,
    forward_id: FORWARD_ID,
    dst_address: LAN_HOST,
    dst_port: 443,
    expires_in_ms: 600_000,
    channel_token: 'token',
    warm_channels: 0,
    max_channels: 8,
  };
}

/** What bears the tag of an agent: names of scripts and scheduler entries, comments of rules. */
function onRouter(simulator: Simulator): Record<string, number> {
  const count = (menu: string, property: string): number =>
    simulator.items(menu).filter((item) => item[property]?.startsWith('signalbox-')).length;
  return {
    rules: count('/ip/firewall/nat', 'comment'),
    entries: count('/system/scheduler', 'name'),
    scripts: count('/system/script', 'name'),
    running: count('/system/script/job', 'script'),
  };
}

const OPEN = { rules: 2, entries: 0, scripts: 1, running: 1 };
const NOTHING = { rules: 0, entries: 0, scripts: 0, running: 0 };

describe('where the scheduler is forbidden', () => {
  it('a script waits on the router, and ends with the forward', async () => {
    const { simulator, router } = await home();
    const agent = await agentOf(router);
    await agent.open(params(router), SOON);
    expect(onRouter(simulator)).toEqual(OPEN);
    await agent.close(FORWARD_ID);
    expect(onRouter(simulator)).toEqual(NOTHING);
  });

  it('the router removes the rules by itself when everybody else is gone', async () => {
    const { simulator, router } = await home();
    await (await agentOf(router)).open(params(router), SOON);
    agents = [];
    await time.advance(600_000);
    expect(onRouter(simulator)).toEqual(OPEN);
    await time.advance(61_000);
    expect(onRouter(simulator)).toEqual(NOTHING);
  });

  it('the next run of an agent that was killed ends the script as well', async () => {
    const { simulator, router } = await home();
    const stateFolder = await routers.stateFolder();
    await (await agentOf(router, stateFolder)).open(params(router), SOON);
    agents = [];
    await agentOf(router, stateFolder);
    routers.clock.advance(10_000);
    await vi.waitFor(() => expect(onRouter(simulator)).toEqual(NOTHING), { timeout: 5000 });
  });

  it('a rebooted router, which keeps the rules and forgets the script, is given another', async () => {
    const { simulator, router } = await home();
    await (await agentOf(router)).open(params(router), SOON);
    await simulator.reboot();
    await vi.waitFor(() => {
      routers.clock.advance(1000);
      expect(router.state().reachable).toBe(false);
    }, { timeout: 10_000, interval: 20 });
    expect(onRouter(simulator)).toEqual({ ...OPEN, running: 0 });
    await vi.waitFor(async () => {
      await time.advance(1000);
      routers.clock.advance(1000);
      expect(onRouter(simulator)).toEqual(OPEN);
    }, { timeout: 10_000, interval: 20 });
    await time.advance(700_000);
    expect(onRouter(simulator)).toEqual(NOTHING);
  });

  it('and so are scripts, the forward is opened all the same and tells who removes the rules', async () => {
    const { simulator, router } = await home();
    const command = router.command.bind(router);
    vi.spyOn(router, 'command').mockImplementation(async (asked, deadline) => {
      if (asked.path === '/system/script/add') throw new AgentError('rejected', 'not enough permissions (9)');
      return command(asked, deadline);
    });
    const opened = await (await agentOf(router)).open(params(router), SOON);
    expect(opened.way_reason).toBe('a dst-nat rule on the router; device-mode forbids the scheduler, so only the agent removes the rule');
    expect(onRouter(simulator)).toEqual({ ...NOTHING, rules: 2 });
  });
});
