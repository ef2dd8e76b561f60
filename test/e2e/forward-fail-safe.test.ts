import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentError } from '../../agent/core/errors.ts';
import { FORWARD_ID, ForwardBranches, SOON, openParams } from '../harness/forward-branch.ts';
import type { Branch } from '../harness/forward-branch.ts';
import { ManualTime } from '../simulator/index.ts';
import type { Simulator } from '../simulator/index.ts';

/** How a router whose device-mode forbids the scheduler gets rid of a forward's rules by itself: a script that waits. */

let branches: ForwardBranches;
let time: ManualTime;

beforeEach(() => {
  branches = new ForwardBranches();
  time = new ManualTime();
});

afterEach(async () => branches.close());

const home = (): Promise<Branch> => branches.branch({ api: true }, { deviceMode: 'home', time });

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
    const agent = await branches.agent(router);
    await agent.open(openParams(router, 443), SOON);
    expect(onRouter(simulator)).toEqual(OPEN);
    await agent.close(FORWARD_ID);
    expect(onRouter(simulator)).toEqual(NOTHING);
  });

  it('the router removes the rules by itself when everybody else is gone', async () => {
    const { simulator, router } = await home();
    await (await branches.agent(router)).open(openParams(router, 443), SOON);
    branches.killAgents();
    await time.advance(600_000);
    expect(onRouter(simulator)).toEqual(OPEN);
    await time.advance(61_000);
    expect(onRouter(simulator)).toEqual(NOTHING);
  });

  it('the next run of an agent that was killed ends the script as well', async () => {
    const { simulator, router } = await home();
    const stateFolder = await branches.stateFolder();
    await (await branches.agent(router, stateFolder)).open(openParams(router, 443), SOON);
    branches.killAgents();
    await branches.agent(router, stateFolder);
    branches.clock.advance(10_000);
    await vi.waitFor(() => expect(onRouter(simulator)).toEqual(NOTHING), { timeout: 5000 });
  });

  it('a rebooted router, which keeps the rules and forgets the script, is given another', async () => {
    const { simulator, router } = await home();
    await (await branches.agent(router)).open(openParams(router, 443), SOON);
    await simulator.reboot();
    await vi.waitFor(() => {
      branches.clock.advance(1000);
      expect(router.state().reachable).toBe(false);
    }, { timeout: 10_000, interval: 20 });
    expect(onRouter(simulator)).toEqual({ ...OPEN, running: 0 });
    await vi.waitFor(async () => {
      await time.advance(1000);
      branches.clock.advance(1000);
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
    const opened = await (await branches.agent(router)).open(openParams(router, 443), SOON);
    expect(opened.way_reason).toBe('a dst-nat rule on the router; device-mode forbids the scheduler, so only the agent removes the rule');
    expect(onRouter(simulator)).toEqual({ ...NOTHING, rules: 2 });
  });
});
