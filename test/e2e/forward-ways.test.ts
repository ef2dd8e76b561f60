import { once } from 'node:events';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentError } from '../../agent/core/errors.ts';
import { echo, entriesOf, forwardingOf, ForwardBranches, LAN_HOST, rulesOf } from '../harness/forward-branch.ts';
import { ManualTime } from '../simulator/index.ts';

/** The ways into the network behind a router, and how the agent chooses between them. */

let branches: ForwardBranches;

beforeEach(() => {
  branches = new ForwardBranches();
});

afterEach(() => branches.close());

describe.each(['6.49.10', '7.18.2'])('RouterOS %s', (version) => {
  it('forwards over SSH, and switches its setting on and back', async () => {
    const { simulator, router } = await branches.branch({ api: true, ssh: true }, { version });
    const before = forwardingOf(simulator);
    expect(before).toBe('no');
    const chosen = await branches.choose(router, await branches.echoService());
    expect(chosen).toMatchObject({ way: { name: 'ssh' }, reason: 'the router forwards over SSH', targetReachable: true });
    expect(forwardingOf(simulator)).toBe('local');
    expect(await echo(chosen, 'through SSH')).toBe('through SSH');
    await chosen.way.close();
    expect(forwardingOf(simulator)).toBe(before);
  });

  it('forwards over SSH without the API', async () => {
    const { simulator, router } = await branches.branch({ ssh: true }, { version });
    const chosen = await branches.choose(router, await branches.echoService());
    expect(chosen.way.name).toBe('ssh');
    expect(await echo(chosen, 'only SSH')).toBe('only SSH');
    await chosen.way.close();
    expect(forwardingOf(simulator)).toBe('no');
  });

  it('forwards by dst-nat without SSH, also to targets with another default gateway', async () => {
    const options = { version, hosts: { [LAN_HOST]: { address: '127.0.0.1', routesBack: false } } };
    const { simulator, router } = await branches.branch({ api: true }, options);
    const rulesBefore = simulator.items('/ip/firewall/nat').length;
    const chosen = await branches.choose(router, await branches.echoService());
    expect(chosen).toMatchObject({ way: { name: 'api' }, reason: 'a dst-nat rule on the router', targetReachable: true });
    expect(await echo(chosen, 'through NAT')).toBe('through NAT');
    const [first, second] = simulator.items('/ip/firewall/nat');
    for (const rule of [first, second])
      expect(rule).toMatchObject({ comment: 'signalbox-test-1', 'src-address': '127.0.0.1', protocol: 'tcp' });
    expect(entriesOf(simulator)).toEqual(['signalbox-test-1', 'signalbox-test-1-boot']);
    await chosen.way.close();
    expect(simulator.items('/ip/firewall/nat')).toHaveLength(rulesBefore);
    expect(simulator.items('/system/scheduler')).toEqual([]);
  });
});

describe.each(['6.49.10', '7.18.2'])('the rules on a router with RouterOS %s', (version) => {
  const right = '2026-11-20T10:00:00Z';
  it.each([
    ['has never been set', '1970-01-02T00:10:00Z', right],
    ['was ahead', '2031-01-01T00:00:00Z', right],
    ['was right, and is not any more', right, '1970-01-02T00:00:00Z'],
  ])('are removed on time by the router alone when its clock %s', async (_what, before, after) => {
    const time = new ManualTime();
    const { simulator, router } = await branches.branch({ api: true }, { version, time, clock: before });
    await branches.choose(router, await branches.echoService());
    await router.close();
    const begun = time.now();
    await time.advance(100_000);
    simulator.router.clock.setUtc(Date.parse(after));
    await time.advance(600_000 - (time.now() - begun));
    expect(rulesOf(simulator)).toHaveLength(2);
    // What the agent is given to do it itself, and one tick.
    await time.advance(60_000 + 33_000);
    expect(rulesOf(simulator)).toEqual([]);
    expect(entriesOf(simulator)).toEqual([]);
  });
});

describe('the way', () => {
  async function closedPort(): Promise<number> {
    const closed = net.createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as net.AddressInfo;
    closed.close();
    return port;
  }

  it('reports that the target does not answer, without refusing the forward', async () => {
    const port = await closedPort();
    // The simulator's NAT accepts before it dials, so only the SSH way can tell here.
    const { router } = await branches.branch({ ssh: true, api: true });
    const overSsh = await branches.choose(router, port);
    expect(overSsh).toMatchObject({ way: { name: 'ssh' }, targetReachable: false });
    await overSsh.way.close();
  });

  it('is direct when the target is the router itself', async () => {
    const { router } = await branches.branch({ ssh: true, api: true });
    const chosen = await branches.choose(router, await branches.echoService(), '127.0.0.1');
    expect(chosen).toMatchObject({ way: { name: 'direct' }, reason: 'the target is the router itself' });
    expect(await echo(chosen, 'direct')).toBe('direct');
  });

  it("stays direct when the router's own port is closed for the moment and SSH refuses", async () => {
    const { router } = await branches.branch({ ssh: true, api: true });
    vi.spyOn(router, 'openTcp').mockRejectedValue(new AgentError('router_unreachable', 'connection refused'));
    const chosen = await branches.choose(router, await closedPort(), '127.0.0.1');
    expect(chosen).toMatchObject({
      way: { name: 'direct' },
      targetReachable: false,
      reason: 'the target is the router itself; ssh: connection refused',
    });
  });

  it("is not direct when the agent's address of the router is not allowed", async () => {
    const { simulator, router } = await branches.branch({ ssh: true, api: true });
    const address = simulator.items('/ip/address')[0]!['address']!.split('/')[0]!;
    const allow = [`${address}/32`];
    const chosen = await branches.choose(router, await branches.echoService(), address, allow);
    expect(chosen).toMatchObject({ way: { name: 'ssh' }, reason: expect.stringContaining('forwards.allow') });
    await chosen.way.close();
    const { router: apiOnly } = await branches.branch({ api: true });
    await expect(branches.choose(apiOnly, await branches.echoService(), address, allow)).rejects.toMatchObject({ code: 'not_allowed' });
  });

  it('falls back to dst-nat when the user may not change SSH', async () => {
    const users = [{ name: 'agent', password: 'Łódź€ secret', group: 'some' }];
    const groups = { some: ['api', 'read', 'write', 'policy', 'test'] };
    const { router } = await branches.branch({ ssh: true, api: true }, { users, groups });
    const chosen = await branches.choose(router, await branches.echoService());
    expect(chosen.way.name).toBe('api');
    expect(chosen.reason).toMatch(/^a dst-nat rule on the router; ssh: /);
    await chosen.way.close();
  });

  it('that is unavailable reports the reason of each way, and is requested again while a reason is temporary', async () => {
    const { router } = await branches.branch({ ssh: true, api: true });
    const command = router.command.bind(router);
    vi.spyOn(router, 'command').mockImplementation(async (asked, deadline) => {
      if (asked.path === '/ip/firewall/nat/add') throw new AgentError('not_allowed', 'no rules here');
      return command(asked, deadline);
    });
    const openTcp = vi.spyOn(router, 'openTcp').mockRejectedValue(new AgentError('router_unreachable', 'connection refused'));
    await expect(branches.choose(router, 443)).rejects.toMatchObject({
      code: 'router_unreachable',
      message: 'ssh: connection refused; dst-nat: no rules here',
    });
    openTcp.mockRejectedValue(new AgentError('not_allowed', 'forwarding is off'));
    await expect(branches.choose(router, 443)).rejects.toMatchObject({
      code: 'not_allowed',
      message: 'ssh: forwarding is off; dst-nat: no rules here',
    });
  });

  it('by dst-nat works without the scheduler when device-mode forbids it, and says so', async () => {
    const { simulator, router } = await branches.branch({ api: true }, { deviceMode: 'home' });
    const chosen = await branches.choose(router, await branches.echoService());
    expect(chosen.reason).toBe(
      'a dst-nat rule on the router; device-mode forbids the scheduler, so after a reboot only the agent removes the rule',
    );
    await chosen.way.close();
    expect(rulesOf(simulator)).toEqual([]);
  });
});
