import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentError } from '../../agent/core/errors.ts';
import type { AgentForwards } from '../../agent/forward/agent-forwards.ts';
import { within } from '../../server/platform/core/within.ts';
import { echo, entriesOf, FORWARD_ID, ForwardBranches, LAN_HOST, openParams, rulesOf, SOON } from '../harness/forward-branch.ts';
import type { Branch, Sessions } from '../harness/forward-branch.ts';
import type { RouterAdapter } from '../../agent/routers/adapter.ts';
import { ManualTime } from '../simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../simulator/index.ts';
import { eventually } from '../harness/wait-until.ts';

/** An open forward when its router reboots, changes or stops answering. */

let branches: ForwardBranches;

beforeEach(() => {
  branches = new ForwardBranches();
});

afterEach(() => branches.close());

describe('an open forward', () => {
  /** Back from a reboot: the sessions are opened again as soon as the agent's clock moves. */
  async function rebooted({ simulator, router }: Branch): Promise<void> {
    await simulator.reboot();
    await eventually(() => {
      branches.clock.advance(1000);
      expect(router.state().reachable).toBe(false);
    });
    await eventually(() => {
      branches.clock.advance(1000);
      expect(router.state().reachable).toBe(true);
    });
  }

  async function opened(sessions: Sessions, options: Partial<SimulatorOptions> = {}): Promise<Branch & { agent: AgentForwards }> {
    const found = await branches.branch(sessions, options);
    const agent = await branches.agent(found.router);
    await agent.open(openParams(found.router, await branches.echoService()), SOON);
    return { ...found, agent };
  }

  it('restores its rules and fail-safe when the router removes them soon after a reboot', async () => {
    const time = new ManualTime();
    const { simulator, router } = await opened({ api: true }, { time });
    await rebooted({ simulator, router });
    await time.advance(5000);
    expect(rulesOf(simulator)).toEqual([]);
    branches.clock.advance(60_000);
    await eventually(() => expect(rulesOf(simulator)).toHaveLength(2));
    expect(entriesOf(simulator)).toHaveLength(2);
    expect(branches.lost).toEqual([]);
  });

  it('waits until a router that has just booted has finished its start-up work', async () => {
    const time = new ManualTime();
    const { simulator, router } = await branches.branch({ api: true }, { time, uptimeMs: 1000 });
    const choosing = branches.choose(router, await branches.echoService());
    await eventually(() => expect(branches.clock.pending).toBeGreaterThan(1));
    await time.advance(5000);
    branches.clock.advance(9000);
    const chosen = await choosing;
    await time.advance(5000);
    expect(rulesOf(simulator)).toHaveLength(2);
    await chosen.way.close();
  });

  it('is lost when the rebooted router refuses the rules', async () => {
    const time = new ManualTime();
    const { simulator, router } = await opened({ api: true }, { time });
    const command = router.command.bind(router);
    vi.spyOn(router, 'command').mockImplementation(async (asked, deadline) => {
      if (asked.path === '/ip/firewall/nat/add') throw new AgentError('rejected', 'not enough permissions (9)');
      return command(asked, deadline);
    });
    await rebooted({ simulator, router });
    await time.advance(5000);
    branches.clock.advance(60_000);
    await eventually(() =>
      expect(branches.lost).toEqual([
        { id: FORWARD_ID, reason: 'the rules are gone from the router: not enough permissions (9) (/ip/firewall/nat/add)' },
      ]),
    );
    expect(entriesOf(simulator)).toEqual([]);
  });

  it('restores removed rules after a failed connection', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const chosen = await branches.choose(router, await branches.echoService());
    const ids = (await router.command({ path: '/ip/firewall/nat/print', words: [] }, SOON)).rows.map((row) => row['.id']!);
    await router.command({ path: '/ip/firewall/nat/remove', words: [`=.id=${ids.join(',')}`] }, SOON);
    const stream = chosen.way.connectNow!(SOON);
    await new Promise((resolve) => stream.once('error', resolve));
    await eventually(() => expect(rulesOf(simulator)).toHaveLength(2));
    await eventually(async () => expect(await echo(chosen, 'again')).toBe('again'));
    await chosen.way.close();
  });

  async function setRules(router: RouterAdapter, change: 'disable' | 'enable'): Promise<void> {
    const { rows } = await router.command({ path: '/ip/firewall/nat/print', words: [] }, SOON);
    const ids = rows.filter((row) => row['comment']?.startsWith('signalbox-')).map((row) => row['.id']!);
    await router.command({ path: `/ip/firewall/nat/${change}`, words: [`=.id=${ids.join(',')}`] }, SOON);
  }

  const disabledOf = (simulator: Simulator): (string | undefined)[] =>
    simulator
      .items('/ip/firewall/nat')
      .filter((rule) => rule['comment']?.startsWith('signalbox-'))
      .map((rule) => rule['disabled']);

  it('is lost when its rules are disabled and a connection fails', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const onLost = vi.fn<(reason: string) => void>();
    const chosen = await branches.choose(router, await branches.echoService(), LAN_HOST, undefined, { onLost });
    await setRules(router, 'disable');
    const stream = chosen.way.connectNow!(SOON);
    await new Promise((resolve) => stream.once('error', resolve));
    await eventually(() => expect(onLost).toHaveBeenCalledWith('the rules were disabled on the router'));
    await chosen.way.close();
    expect(disabledOf(simulator)).toEqual(['true', 'true']);
  });

  /** The agent looks at the rules of a router that was away. */
  async function backAgain({ simulator, router }: Branch): Promise<void> {
    simulator.faults.resetConnections();
    await eventually(() => expect(router.state().reachable).toBe(false));
    await eventually(() => {
      branches.clock.advance(1000);
      expect(router.state().reachable).toBe(true);
    });
    branches.clock.advance(1000);
  }

  it('with disabled rules stays refused until they are enabled, also across restarts of the agent', async () => {
    const { simulator, router, agent } = await opened({ api: true });
    await setRules(router, 'disable');
    await backAgain({ simulator, router });
    await eventually(() => expect(branches.lost).toEqual([{ id: FORWARD_ID, reason: 'the rules were disabled on the router' }]));
    const refused = { code: 'rejected', message: 'the rules were disabled on the router' };
    await expect(agent.open(openParams(router, 443), SOON)).rejects.toMatchObject(refused);
    await agent.stop();
    branches.killAgents();
    const next = await branches.agent(router);
    branches.clock.advance(10_000);
    await expect(next.open(openParams(router, 443), SOON)).rejects.toMatchObject(refused);
    expect(disabledOf(simulator)).toEqual(['true', 'true']);
    await setRules(router, 'enable');
    expect(await next.open(openParams(router, 443), SOON)).toMatchObject({ way: 'api' });
    expect(disabledOf(simulator)).toEqual(['false', 'false']);
    expect(entriesOf(simulator)).toHaveLength(2);
  });

  it('with disabled rules leaves none of them behind when revoked', async () => {
    const { simulator, router, agent } = await opened({ api: true });
    await setRules(router, 'disable');
    await backAgain({ simulator, router });
    await eventually(() => expect(branches.lost).toHaveLength(1));
    await agent.close(FORWARD_ID);
    expect(rulesOf(simulator)).toEqual([]);
    expect(entriesOf(simulator)).toEqual([]);
  });

  it('is lost when SSH forwarding is switched off, and found again when it is on, or by the other way', async () => {
    const { simulator, router } = await branches.branch({ ssh: true, api: true });
    const port = await branches.echoService();
    const onLost = vi.fn<(reason: string) => void>();
    const chosen = await branches.choose(router, port, LAN_HOST, undefined, { onLost });
    expect(chosen.way.name).toBe('ssh');
    await router.command({ path: '/ip/ssh/set', words: ['=forwarding-enabled=no'] }, SOON);
    await expect(chosen.way.connect(SOON)).rejects.toMatchObject({ code: 'not_allowed' });
    expect(onLost).toHaveBeenCalledWith(expect.stringContaining('forwarding-enabled'));
    await chosen.way.close();

    const again = await branches.choose(router, port);
    expect(again.way.name).toBe('ssh');
    await again.way.close();
    const command = router.command.bind(router);
    vi.spyOn(router, 'command').mockImplementation(async (asked, deadline) => {
      if (asked.path === '/ip/ssh/set') throw new AgentError('rejected', 'not allowed by device-mode');
      return command(asked, deadline);
    });
    const other = await branches.choose(router, port);
    expect(other).toMatchObject({
      way: { name: 'api' },
      reason: 'a dst-nat rule on the router; ssh: not allowed by device-mode (/ip/ssh/set)',
    });
    await other.way.close();
    expect(simulator.items('/ip/firewall/nat').map((item) => item['comment'])).not.toContain('signalbox-test-1');
  });

  it('is lost when only SSH stops answering, but not while the whole router is unreachable', async () => {
    const { router } = await branches.branch({ ssh: true, api: true });
    const port = await branches.echoService();
    const onLost = vi.fn<(reason: string) => void>();
    const chosen = await branches.choose(router, port, LAN_HOST, undefined, { onLost });
    vi.spyOn(router, 'openTcp').mockRejectedValue(new AgentError('router_unreachable', 'connection refused'));
    const refresh = vi.spyOn(router, 'refresh').mockRejectedValueOnce(new AgentError('router_unreachable', 'no answer'));
    await expect(chosen.way.connect(SOON)).rejects.toMatchObject({ code: 'router_unreachable' });
    await eventually(() => expect(refresh.mock.settledResults).toHaveLength(1));
    await chosen.way.close();
    expect(onLost).not.toHaveBeenCalled();

    vi.mocked(router.openTcp).mockRestore();
    const second = await branches.choose(router, port, LAN_HOST, undefined, { onLost });
    vi.spyOn(router, 'openTcp').mockRejectedValue(new AgentError('router_unreachable', 'connection refused'));
    await expect(second.way.connect(SOON)).rejects.toMatchObject({ code: 'router_unreachable' });
    await eventually(() => expect(onLost).toHaveBeenCalledWith('the router no longer answers over SSH: connection refused'));
    await second.way.close();
    const other = await branches.choose(router, port);
    expect(other).toMatchObject({ way: { name: 'api' }, reason: 'a dst-nat rule on the router; ssh: connection refused' });
    await other.way.close();
  });

  it('closed and opened again at once keeps its new rules', async () => {
    const { simulator, router, agent } = await opened({ api: true });
    const command = router.command.bind(router);
    const added = Promise.withResolvers<void>();
    vi.spyOn(router, 'command').mockImplementation(async (asked, deadline) => {
      // The old rules go when the new ones are there, if these do not wait.
      if (asked.path === '/ip/firewall/nat/print' && asked.words.includes('?>comment=')) await within(added.promise, 300);
      const done = await command(asked, deadline);
      if (asked.path === '/system/scheduler/add') added.resolve();
      return done;
    });
    const closed = agent.close(FORWARD_ID);
    const again = agent.open(openParams(router, await branches.echoService()), SOON);
    await Promise.all([closed, again]);
    expect(rulesOf(simulator)).toHaveLength(2);
    expect(entriesOf(simulator)).toHaveLength(2);
  });

  it("is lost when another device answers at the router's address", async () => {
    const { router, simulator } = await opened({ api: true });
    const real = router.state.bind(router);
    vi.spyOn(router, 'state').mockImplementation(() => {
      const state = real();
      return { ...state, facts: state.facts && { ...state.facts, hardwareId: 'another' } };
    });
    await router.refresh(SOON);
    await eventually(() => expect(branches.lost).toEqual([{ id: FORWARD_ID, reason: 'another device (another) answers at branch' }]));
    expect(rulesOf(simulator)).toEqual([]);
  });
});
