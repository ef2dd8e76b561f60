import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentError } from '../../agent/core/errors.ts';
import type { AgentForwards } from '../../agent/forward/agent-forwards.ts';
import type { RouterAdapter } from '../../agent/routers/adapter.ts';
import { entriesOf, forwardingOf, FORWARD_ID, ForwardBranches, openParams, rulesOf, SOON } from '../harness/forward-branch.ts';
import { ManualTime } from '../simulator/index.ts';
import type { Simulator } from '../simulator/index.ts';
import { eventually } from '../harness/wait-until.ts';

/** The agent opens and closes forwards and leaves nothing on a router, whatever happens in between. */

let branches: ForwardBranches;

beforeEach(() => {
  branches = new ForwardBranches();
});

afterEach(() => branches.close());

function expectNothingLeft(simulator: Simulator): void {
  expect(rulesOf(simulator)).toEqual([]);
  expect(entriesOf(simulator)).toEqual([]);
}

describe('the agent', () => {
  it('opens, renews and closes a forward, and leaves nothing on the router', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const agent = await branches.agent(router);
    const port = await branches.echoService();
    const opened = await agent.open(openParams(router, port), SOON);
    expect(opened).toMatchObject({ way: 'api', target_reachable: true });
    expect(await agent.open(openParams(router, port), SOON)).toEqual(opened);
    expect(rulesOf(simulator)).toHaveLength(2);
    await agent.close(FORWARD_ID);
    expectNothingLeft(simulator);
  });

  it('gives each of many forwards opened together its own port, also when random ports collide', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const agent = await branches.agent(router);
    const port = await branches.echoService();
    const ids = Array.from({ length: 8 }, (_, index) => FORWARD_ID.replace(/1$/, String(index)));
    await Promise.all(ids.map((id) => agent.open(openParams(router, port, { forward_id: id }), SOON)));
    random.mockRestore();
    const entryPorts = simulator
      .items('/ip/firewall/nat')
      .filter((rule) => rule['action'] === 'dst-nat')
      .map((rule) => rule['dst-port']);
    expect(new Set(entryPorts).size).toBe(8);
  });

  it('retries the removal of rules that it could not remove when the forward ended', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const agent = await branches.agent(router);
    await agent.open(openParams(router, await branches.echoService()), SOON);
    const refusing = vi.spyOn(router, 'command').mockRejectedValue(new Error('no answer'));
    await agent.close(FORWARD_ID);
    refusing.mockRestore();
    expect(rulesOf(simulator)).toHaveLength(2);
    await router.refresh(SOON);
    await eventually(() => expectNothingLeft(simulator));
  });

  /** Asks for a forward and gives it up as soon as the router has the first of its rules, as when the tunnel breaks. */
  async function openAndGiveUp(agent: AgentForwards, router: RouterAdapter, port: number): Promise<void> {
    const abort = new AbortController();
    const command = router.command.bind(router);
    const spy = vi.spyOn(router, 'command').mockImplementation(async (asked, deadline) => {
      const done = await command(asked, deadline);
      if (asked.path === '/ip/firewall/nat/add') abort.abort();
      return done;
    });
    await expect(agent.open(openParams(router, port), { ...SOON, signal: abort.signal })).rejects.toThrow('cancelled');
    spy.mockRestore();
  }

  it('removes a forward whose request was cancelled while its rules were added', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const agent = await branches.agent(router);
    await openAndGiveUp(agent, router, await branches.echoService());
    expectNothingLeft(simulator);
  });

  it('serves a request for a forward whose previous request was just cancelled', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const agent = await branches.agent(router);
    const port = await branches.echoService();
    const givenUp = openAndGiveUp(agent, router, port);
    await Promise.all([givenUp, expect(agent.open(openParams(router, port), SOON)).resolves.toMatchObject({ way: 'api' })]);
    expect(rulesOf(simulator)).toHaveLength(2);
    expect(entriesOf(simulator)).toHaveLength(2);
  });

  /** A router that is there, and does not let go of its rules for a while. */
  async function leaveBehind(router: RouterAdapter, agent: AgentForwards): Promise<void> {
    await agent.open(openParams(router, await branches.echoService()), SOON);
    const command = router.command.bind(router);
    const refusing = vi
      .spyOn(router, 'command')
      .mockImplementation((asked, deadline) =>
        asked.path.endsWith('/remove')
          ? Promise.reject(new AgentError('outcome_unknown', 'no answer within 10 s'))
          : command(asked, deadline),
      );
    await agent.close(FORWARD_ID);
    refusing.mockRestore();
    expect(router.state().reachable).toBe(true);
  }

  it('retries the removal on a router that stayed reachable', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    await leaveBehind(router, await branches.agent(router));
    expect(rulesOf(simulator)).toHaveLength(2);
    branches.clock.advance(5000);
    await eventually(() => expectNothingLeft(simulator));
  });

  it('reports the end of a forward only when nothing of it is left on an answering router', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const agent = await branches.agent(router);
    await leaveBehind(router, agent);
    expect(rulesOf(simulator)).toHaveLength(2);
    await agent.close(FORWARD_ID);
    expectNothingLeft(simulator);
  });

  it('opens a forward again and replaces its leftovers on the router', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const agent = await branches.agent(router);
    await leaveBehind(router, agent);
    expect(await agent.open(openParams(router, await branches.echoService()), SOON)).toMatchObject({
      way: 'api',
      way_reason: 'a dst-nat rule on the router',
    });
    expect(rulesOf(simulator)).toHaveLength(2);
    expect(entriesOf(simulator)).toHaveLength(2);
  });

  it('ends an expired forward by itself', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const agent = await branches.agent(router);
    await agent.open(openParams(router, await branches.echoService()), SOON);
    branches.clock.advance(599_999);
    expect(rulesOf(simulator)).toHaveLength(2);
    branches.clock.advance(1);
    await eventually(() => expect(rulesOf(simulator)).toEqual([]));
  });

  it('ends a forward at once when its machine was suspended past the expiry', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const agent = await branches.agent(router);
    await agent.open(openParams(router, await branches.echoService()), SOON);
    branches.clock.suspend(900_000);
    expect(rulesOf(simulator)).toHaveLength(2);
    branches.clock.advance(1000);
    await eventually(() => expectNothingLeft(simulator));
    expect(await agent.open(openParams(router, 443), SOON)).toMatchObject({ way: 'api' });
    branches.clock.suspend(300_000);
    branches.clock.advance(299_000);
    expect(rulesOf(simulator)).toHaveLength(2);
    branches.clock.advance(1000);
    await eventually(() => expectNothingLeft(simulator));
  });

  it("does not restore rules that the router removed at expiry while the agent's machine was suspended", async () => {
    const time = new ManualTime();
    const { simulator, router } = await branches.branch({ api: true }, { time });
    const chosen = await branches.choose(router, await branches.echoService());
    const asked = vi.spyOn(router, 'command');
    branches.clock.suspend(900_000);
    await time.advance(900_000);
    expect(rulesOf(simulator)).toEqual([]);
    const stream = chosen.way.connectNow!(SOON);
    await new Promise((resolve) => stream.once('error', resolve));
    await chosen.way.close();
    expect(asked.mock.calls.filter(([{ path: asks }]) => asks.endsWith('/add'))).toEqual([]);
  });

  it('removes exactly what a killed run left behind', async () => {
    const { simulator, router } = await branches.branch({ api: true, ssh: true });
    const port = await branches.echoService();
    const killed = await branches.agent(router);
    const stranger = '=comment=signalbox-00000000-somebody-else';
    await router.command({ path: '/ip/firewall/nat/add', words: ['=chain=srcnat', '=action=masquerade', stranger] }, SOON);
    await killed.open(openParams(router, port), SOON);
    expect(forwardingOf(simulator)).toBe('local');
    // Nothing of the killed run is asked to tidy up: the next one finds its tag and its memory in the state folder.
    branches.killAgents();
    await branches.agent(router);
    await eventually(() => expect(forwardingOf(simulator)).toBe('no'));

    const { simulator: second, router: apiOnly } = await branches.branch({ api: true });
    const alsoKilled = await branches.agent(apiOnly);
    await alsoKilled.open(openParams(apiOnly, port), SOON);
    expect(rulesOf(second)).toHaveLength(2);
    branches.killAgents();
    await branches.agent(apiOnly);
    await eventually(() => expectNothingLeft(second));
    expect(rulesOf(simulator)).toEqual(['signalbox-00000000-somebody-else']);
  });

  it.each(['both', 'remote', 'no'])('keeps the SSH forwarding setting that an administrator has changed meanwhile: %s', async (wanted) => {
    const { simulator, router } = await branches.branch({ api: true, ssh: true });
    const agent = await branches.agent(router);
    await agent.open(openParams(router, await branches.echoService()), SOON);
    expect(forwardingOf(simulator)).toBe('local');
    await router.command({ path: '/ip/ssh/set', words: [`=forwarding-enabled=${wanted}`] }, SOON);
    await agent.close(FORWARD_ID);
    expect(forwardingOf(simulator)).toBe(wanted);
    // That was the last word about it: what is set from now on is nobody's but the administrator's.
    await router.command({ path: '/ip/ssh/set', words: ['=forwarding-enabled=local'] }, SOON);
    await router.refresh(SOON);
    await agent.stop();
    expect(forwardingOf(simulator)).toBe('local');
  });

  it('keeps that setting after a killed run too', async () => {
    const { simulator, router } = await branches.branch({ api: true, ssh: true });
    await (await branches.agent(router)).open(openParams(router, await branches.echoService()), SOON);
    branches.killAgents();
    await router.command({ path: '/ip/ssh/set', words: ['=forwarding-enabled=both'] }, SOON);
    const agent = await branches.agent(router);
    await agent.stop();
    expect(forwardingOf(simulator)).toBe('both');
  });

  it('restores the last value set by an administrator, not an earlier one', async () => {
    const { simulator, router } = await branches.branch({ api: true, ssh: true });
    await router.command({ path: '/ip/ssh/set', words: ['=forwarding-enabled=remote'] }, SOON);
    const agent = await branches.agent(router);
    const port = await branches.echoService();
    await agent.open(openParams(router, port), SOON);
    expect(forwardingOf(simulator)).toBe('both');
    await router.command({ path: '/ip/ssh/set', words: ['=forwarding-enabled=no'] }, SOON);
    await agent.open(openParams(router, port, { forward_id: FORWARD_ID.replace(/1$/, '2') }), SOON);
    expect(forwardingOf(simulator)).toBe('local');
    await agent.stop();
    expect(forwardingOf(simulator)).toBe('no');
  });

  it('restores the yes or no of an early RouterOS v6', async () => {
    const { router } = await branches.branch({ api: true, ssh: true });
    const [command, openTcp] = [
      router.command.bind(router),
      vi.spyOn(router, 'openTcp').mockRejectedValue(new AgentError('rejected', 'closed')),
    ];
    let value = 'false';
    vi.spyOn(router, 'command').mockImplementation(async (asked, deadline) => {
      if (asked.path === '/ip/ssh/print') return { rows: [{ 'forwarding-enabled': value }] };
      if (asked.path !== '/ip/ssh/set') return command(asked, deadline);
      const wanted = asked.words[0]!.split('=')[2]!;
      if (!/^(yes|no|true|false)$/.test(wanted)) throw new AgentError('rejected', 'invalid value');
      value = /yes|true/.test(wanted) ? 'true' : 'false';
      return { rows: [] };
    });
    const agent = await branches.agent(router);
    expect(await agent.open(openParams(router, 443), SOON)).toMatchObject({ way: 'ssh' });
    expect(openTcp).toHaveBeenCalled();
    expect(value).toBe('true');
    await agent.close(FORWARD_ID);
    expect(value).toBe('false');
  });

  it('opens forwards again once its state folder becomes writable', async () => {
    const { router } = await branches.branch({ api: true });
    const blocked = path.join(await branches.stateFolder(), 'state');
    await writeFile(blocked, 'not a folder');
    const agent = await branches.agent(router, blocked);
    const port = await branches.echoService();
    const reason = "the agent's state folder cannot be written: ";
    await expect(agent.open(openParams(router, port), SOON)).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining(reason),
    });
    await rm(blocked);
    expect(await agent.open(openParams(router, port), SOON)).toMatchObject({ way: 'api' });
  });

  it('removes all its forwards from the router when the agent is revoked', async () => {
    const { simulator, router } = await branches.branch({ api: true });
    const agent = await branches.agent(router);
    const port = await branches.echoService();
    await agent.open(openParams(router, port), SOON);
    await agent.open(openParams(router, port, { forward_id: FORWARD_ID.replace(/1$/, '2') }), SOON);
    expect(rulesOf(simulator)).toHaveLength(4);
    agent.closeAll('revoked');
    await eventually(() => expectNothingLeft(simulator));
    // Should it be wanted again after all.
    expect(await agent.open(openParams(router, port), SOON)).toMatchObject({ way: 'api' });
  });

  it.each([
    ['a destination outside its list', { dst_address: '10.0.0.1' }, 'not_allowed'],
    ['its own loopback', { dst_address: '127.0.0.1' }, 'not_allowed'],
    ['a name', { dst_address: 'printer.lan' }, 'not_allowed'],
    ['a router it does not have', { router: 'other' }, 'invalid'],
    ['another device under the name', { hardware_id: 'other' }, 'wrong_router'],
  ])('refuses %s', async (_what, change, code) => {
    const { router } = await branches.branch({ api: true });
    const agent = await branches.agent(router);
    await expect(agent.open(openParams(router, 80, change), SOON)).rejects.toMatchObject({ code });
  });
});
