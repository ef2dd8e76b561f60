import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentError } from '../../agent/core/errors.ts';
import { ForwardAcceptor } from '../../agent/forward/acceptor.ts';
import { AllowList } from '../../agent/forward/allowlist.ts';
import { chooseWay } from '../../agent/forward/choose-way.ts';
import type { ChosenWay, WayDeps } from '../../agent/forward/choose-way.ts';
import { EntryPorts } from '../../agent/forward/entry-ports.ts';
import { ForwardingMemory } from '../../agent/forward/forwarding-memory.ts';
import { SshForwarding } from '../../agent/forward/ssh-forwarding.ts';
import type { ForwardOpenParams } from '../../agent/forward/types.ts';
import type { RouterAdapter } from '../../agent/routers/adapter.ts';
import { within } from '../../server/core/within.ts';
import { AgentRouters, reachable } from '../harness/agent-router.ts';
import { readAll } from '../harness/read-all.ts';
import { silentLog } from '../harness/silent-log.ts';
import { ManualTime } from '../simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../simulator/index.ts';

/** The ways into the network behind a router, against whole simulated ones. */

const SOON = { timeoutMs: 10_000 };
const FORWARD_ID = '01900000-0000-7000-8000-000000000001';
/** A machine behind the router; the simulator knows that it is really this one. */
const LAN_HOST = '192.168.88.10';

let routers: AgentRouters;
let servers: net.Server[];
let acceptors: ForwardAcceptor[];
/** Forwards that an agent could not serve any more. */
let lost: { id: string; reason: string }[];

beforeEach(() => {
  routers = new AgentRouters();
  servers = [];
  acceptors = [];
  lost = [];
});

afterEach(async () => {
  for (const acceptor of acceptors) await acceptor.stop();
  for (const server of servers) server.close();
  await routers.close();
});

async function echoService(): Promise<number> {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as net.AddressInfo).port;
}

interface Branch {
  simulator: Simulator;
  router: RouterAdapter;
}

async function branch(ways: { api?: boolean; ssh?: boolean }, options: Partial<SimulatorOptions> = {}): Promise<Branch> {
  const simulator = await routers.simulate({ hosts: { [LAN_HOST]: '127.0.0.1' }, ...options });
  const router = await routers.adapter(routers.config(simulator, ways));
  await reachable(router);
  return { simulator, router };
}

async function choose(
  router: RouterAdapter,
  port: number,
  host = LAN_HOST,
  allow = ['127.0.0.0/8', '192.168.0.0/16'],
  change: Partial<WayDeps> = {},
): Promise<ChosenWay> {
  const deps = {
    sshForwarding: new SshForwarding(new ForwardingMemory(await routers.stateFolder()), silentLog),
    allow: new AllowList(allow),
    entryPorts: new EntryPorts(),
    clock: routers.clock,
    log: silentLog,
    mark: 'signalbox-test-1',
    expiresInMs: 600_000,
    onLeftBehind: () => undefined,
    onLost: () => undefined,
    ...change,
  };
  return chooseWay(router, { host, port }, deps, SOON);
}

/** Says something through the way, half-closes and reads the answer. */
async function echo(chosen: ChosenWay, text: string): Promise<string> {
  const stream: Duplex = await chosen.way.connect(SOON);
  stream.end(text);
  return String(await readAll(stream));
}

async function acceptor(router: RouterAdapter, stateFolder?: string): Promise<ForwardAcceptor> {
  const created = new ForwardAcceptor({
    routers: new Map([[router.name, router]]),
    dialChannel: () => Promise.reject(new Error('no control plane here')),
    allow: ['192.168.0.0/16'],
    maxConnections: 10,
    onLost: (id, reason) => lost.push({ id, reason }),
    stateFolder: stateFolder ?? (await routers.stateFolder()),
    clock: routers.clock,
    log: silentLog,
  });
  created.start();
  acceptors.push(created);
  return created;
}

function params(router: RouterAdapter, dstPort: number, change: Partial<ForwardOpenParams> = {}): ForwardOpenParams {
  return {
    router: router.name,
    hardware_id: router.state().facts!.hardwareId,
    forward_id: FORWARD_ID,
    dst_address: LAN_HOST,
    dst_port: dstPort,
    expires_in_ms: 600_000,
    channel_token: 'token',
    warm_channels: 0,
    max_channels: 8,
    ...change,
  };
}

const forwardingOf = (simulator: Simulator): string | undefined => simulator.items('/ip/ssh')[0]?.['forwarding-enabled'];
const ours = (simulator: Simulator, menu: string, key: string): string[] =>
  simulator.items(menu).map((item) => item[key] ?? '').filter((text) => text.startsWith('signalbox-'));

describe.each(['6.49.10', '7.18.2'])('RouterOS %s', (version) => {
  it('forwards over SSH, switching it on and back', async () => {
    const { simulator, router } = await branch({ api: true, ssh: true }, { version });
    const before = forwardingOf(simulator);
    expect(before).toBe('no');
    const chosen = await choose(router, await echoService());
    expect(chosen).toMatchObject({ way: { name: 'ssh' }, reason: 'the router forwards over SSH', targetReachable: true });
    expect(forwardingOf(simulator)).toBe('local');
    expect(await echo(chosen, 'through SSH')).toBe('through SSH');
    await chosen.way.close();
    expect(forwardingOf(simulator)).toBe(before);
  });

  it('forwards over SSH where there is no API', async () => {
    const { simulator, router } = await branch({ ssh: true }, { version });
    const chosen = await choose(router, await echoService());
    expect(chosen.way.name).toBe('ssh');
    expect(await echo(chosen, 'only SSH')).toBe('only SSH');
    await chosen.way.close();
    expect(forwardingOf(simulator)).toBe('no');
  });

  it('forwards by dst-nat where there is no SSH, also to targets with another default gateway', async () => {
    const options = { version, hosts: { [LAN_HOST]: { address: '127.0.0.1', routesBack: false } } };
    const { simulator, router } = await branch({ api: true }, options);
    const rulesBefore = simulator.items('/ip/firewall/nat').length;
    const chosen = await choose(router, await echoService());
    expect(chosen).toMatchObject({ way: { name: 'api' }, reason: 'a dst-nat rule on the router', targetReachable: true });
    expect(await echo(chosen, 'through NAT')).toBe('through NAT');
    const [first, second] = simulator.items('/ip/firewall/nat');
    for (const rule of [first, second]) expect(rule).toMatchObject({ comment: 'signalbox-test-1', 'src-address': '127.0.0.1', protocol: 'tcp' });
    expect(ours(simulator, '/system/scheduler', 'name')).toEqual(['signalbox-test-1', 'signalbox-test-1-boot']);
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
  ])('go in time, with nobody else left to remove them, when its clock %s', async (_what, before, after) => {
    const time = new ManualTime();
    const { simulator, router } = await branch({ api: true }, { version, time, clock: before });
    await choose(router, await echoService());
    await router.close();
    const begun = time.now();
    await time.advance(100_000);
    simulator.router.clock.setUtc(Date.parse(after));
    await time.advance(600_000 - (time.now() - begun));
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2);
    // What the agent is given to do it itself, and one tick.
    await time.advance(60_000 + 33_000);
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toEqual([]);
    expect(ours(simulator, '/system/scheduler', 'name')).toEqual([]);
  });
});

describe('the way', () => {
  it('says when nothing answers at the target, without refusing', async () => {
    const closed = net.createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as net.AddressInfo;
    closed.close();
    // The simulator's NAT accepts before it dials, so only the SSH way can tell here.
    const { router } = await branch({ ssh: true, api: true });
    const overSsh = await choose(router, port);
    expect(overSsh).toMatchObject({ way: { name: 'ssh' }, targetReachable: false });
    await overSsh.way.close();
  });

  it('is direct when the target is the router itself', async () => {
    const { router } = await branch({ ssh: true, api: true });
    const chosen = await choose(router, await echoService(), '127.0.0.1');
    expect(chosen).toMatchObject({ way: { name: 'direct' }, reason: 'the target is the router itself' });
    expect(await echo(chosen, 'direct')).toBe('direct');
  });

  it('is not direct when the address under which the agent reaches the router is not allowed', async () => {
    const { simulator, router } = await branch({ ssh: true, api: true });
    const address = simulator.items('/ip/address')[0]!['address']!.split('/')[0]!;
    const allow = [`${address}/32`];
    const chosen = await choose(router, await echoService(), address, allow);
    expect(chosen).toMatchObject({ way: { name: 'ssh' }, reason: expect.stringContaining('forwards.allow') });
    await chosen.way.close();
    const { router: apiOnly } = await branch({ api: true });
    await expect(choose(apiOnly, await echoService(), address, allow)).rejects.toMatchObject({ code: 'not_allowed' });
  });

  it('falls to dst-nat when the router does not let its user change SSH', async () => {
    const users = [{ name: 'agent', password: 'Łódź€ secret', group: 'some' }];
    const groups = { some: ['api', 'read', 'write', 'policy', 'test'] };
    const { router } = await branch({ ssh: true, api: true }, { users, groups });
    const chosen = await choose(router, await echoService());
    expect(chosen.way.name).toBe('api');
    expect(chosen.reason).toMatch(/^a dst-nat rule on the router; ssh: /);
    await chosen.way.close();
  });

  it('by dst-nat does without the scheduler where device-mode forbids it, and says so', async () => {
    const { simulator, router } = await branch({ api: true }, { deviceMode: 'home' });
    const chosen = await choose(router, await echoService());
    expect(chosen.reason).toBe(
      'a dst-nat rule on the router; device-mode forbids the scheduler, so after a reboot only the agent removes the rule',
    );
    await chosen.way.close();
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toEqual([]);
  });
});

describe('the agent', () => {
  it('opens, renews and closes a forward, and leaves nothing on the router', async () => {
    const { simulator, router } = await branch({ api: true });
    const agent = await acceptor(router);
    const port = await echoService();
    const opened = await agent.open(params(router, port), SOON);
    expect(opened).toMatchObject({ way: 'api', target_reachable: true });
    expect(await agent.open(params(router, port), SOON)).toEqual(opened);
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2);
    await agent.close(FORWARD_ID);
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toEqual([]);
    expect(ours(simulator, '/system/scheduler', 'name')).toEqual([]);
  });

  it('gives each of many forwards that are opened together a port of its own, also when chance would not', async () => {
    const { simulator, router } = await branch({ api: true });
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const agent = await acceptor(router);
    const port = await echoService();
    const ids = Array.from({ length: 8 }, (_, index) => FORWARD_ID.replace(/1$/, String(index)));
    await Promise.all(ids.map((id) => agent.open(params(router, port, { forward_id: id }), SOON)));
    random.mockRestore();
    const entryPorts = simulator.items('/ip/firewall/nat').filter((rule) => rule['action'] === 'dst-nat').map((rule) => rule['dst-port']);
    expect(new Set(entryPorts).size).toBe(8);
  });

  it('removes later what it could not remove when the forward ended', async () => {
    const { simulator, router } = await branch({ api: true });
    const agent = await acceptor(router);
    await agent.open(params(router, await echoService()), SOON);
    const refusing = vi.spyOn(router, 'command').mockRejectedValue(new Error('no answer'));
    await agent.close(FORWARD_ID);
    refusing.mockRestore();
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2);
    await router.refresh(SOON);
    await vi.waitFor(() => expect(ours(simulator, '/ip/firewall/nat', 'comment')).toEqual([]), { timeout: 5000 });
    await vi.waitFor(() => expect(ours(simulator, '/system/scheduler', 'name')).toEqual([]), { timeout: 5000 });
  });

  const nothingLeft = (simulator: Simulator): void => {
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toEqual([]);
    expect(ours(simulator, '/system/scheduler', 'name')).toEqual([]);
  };

  /** Asks for a forward and gives it up as soon as the router has the first of its rules, as when the tunnel breaks. */
  async function openAndGiveUp(agent: ForwardAcceptor, router: RouterAdapter, port: number): Promise<void> {
    const abort = new AbortController();
    const command = router.command.bind(router);
    const spy = vi.spyOn(router, 'command').mockImplementation(async (asked, deadline) => {
      const done = await command(asked, deadline);
      if (asked.path === '/ip/firewall/nat/add') abort.abort();
      return done;
    });
    await expect(agent.open(params(router, port), { ...SOON, signal: abort.signal })).rejects.toThrow('cancelled');
    spy.mockRestore();
  }

  it('undoes a forward whose request was given up while its rules were added', async () => {
    const { simulator, router } = await branch({ api: true });
    const agent = await acceptor(router);
    await openAndGiveUp(agent, router, await echoService());
    nothingLeft(simulator);
  });

  it('serves a request for a forward that another one has just given up', async () => {
    const { simulator, router } = await branch({ api: true });
    const agent = await acceptor(router);
    const port = await echoService();
    const givenUp = openAndGiveUp(agent, router, port);
    await Promise.all([givenUp, expect(agent.open(params(router, port), SOON)).resolves.toMatchObject({ way: 'api' })]);
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2);
    expect(ours(simulator, '/system/scheduler', 'name')).toHaveLength(2);
  });

  /** A router that is there, and does not let go of its rules for a while. */
  async function leaveBehind(router: RouterAdapter, agent: ForwardAcceptor): Promise<void> {
    await agent.open(params(router, await echoService()), SOON);
    const command = router.command.bind(router);
    const refusing = vi.spyOn(router, 'command').mockImplementation((asked, deadline) =>
      asked.path.endsWith('/remove') ? Promise.reject(new AgentError('outcome_unknown', 'no answer within 10 s')) : command(asked, deadline));
    await agent.close(FORWARD_ID);
    refusing.mockRestore();
    expect(router.state().reachable).toBe(true);
  }

  it('removes later what it could not remove from a router that was never away', async () => {
    const { simulator, router } = await branch({ api: true });
    await leaveBehind(router, await acceptor(router));
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2);
    routers.clock.advance(5000);
    await vi.waitFor(() => nothingLeft(simulator), { timeout: 5000 });
  });

  it('says that a forward is over only when nothing of it is on a router that answers', async () => {
    const { simulator, router } = await branch({ api: true });
    const agent = await acceptor(router);
    await leaveBehind(router, agent);
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2);
    await agent.close(FORWARD_ID);
    nothingLeft(simulator);
  });

  it('opens a forward again although something of it is still on the router, which it replaces', async () => {
    const { simulator, router } = await branch({ api: true });
    const agent = await acceptor(router);
    await leaveBehind(router, agent);
    expect(await agent.open(params(router, await echoService()), SOON)).toMatchObject({ way: 'api', way_reason: 'a dst-nat rule on the router' });
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2);
    expect(ours(simulator, '/system/scheduler', 'name')).toHaveLength(2);
  });

  it('ends a forward by itself when its time is over', async () => {
    const { simulator, router } = await branch({ api: true });
    const agent = await acceptor(router);
    await agent.open(params(router, await echoService()), SOON);
    routers.clock.advance(599_999);
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2);
    routers.clock.advance(1);
    await vi.waitFor(() => expect(ours(simulator, '/ip/firewall/nat', 'comment')).toEqual([]), { timeout: 5000 });
  });

  it('removes what a run that was killed has left, and only that', async () => {
    const { simulator, router } = await branch({ api: true, ssh: true });
    const port = await echoService();
    const killed = await acceptor(router);
    const stranger = '=comment=signalbox-00000000-somebody-else';
    await router.command({ path: '/ip/firewall/nat/add', words: ['=chain=srcnat', '=action=masquerade', stranger] }, SOON);
    await killed.open(params(router, port), SOON);
    expect(forwardingOf(simulator)).toBe('local');
    // Nothing of the killed run is asked to tidy up: the next one finds its tag and its memory in the state folder.
    acceptors = [];
    await acceptor(router);
    await vi.waitFor(() => expect(forwardingOf(simulator)).toBe('no'), { timeout: 5000 });

    const { simulator: second, router: apiOnly } = await branch({ api: true });
    const alsoKilled = await acceptor(apiOnly);
    await alsoKilled.open(params(apiOnly, port), SOON);
    expect(ours(second, '/ip/firewall/nat', 'comment')).toHaveLength(2);
    acceptors = [];
    await acceptor(apiOnly);
    await vi.waitFor(() => expect(ours(second, '/ip/firewall/nat', 'comment')).toEqual([]), { timeout: 5000 });
    expect(ours(second, '/system/scheduler', 'name')).toEqual([]);
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toEqual(['signalbox-00000000-somebody-else']);
  });

  it('opens forwards again once it can write to its state folder, which it could not at its start', async () => {
    const { router } = await branch({ api: true });
    const blocked = path.join(await routers.stateFolder(), 'state');
    await writeFile(blocked, 'not a folder');
    const agent = await acceptor(router, blocked);
    const port = await echoService();
    await expect(agent.open(params(router, port), SOON)).rejects.toThrow();
    await rm(blocked);
    expect(await agent.open(params(router, port), SOON)).toMatchObject({ way: 'api' });
  });

  it('leaves nothing on the router of any forward once it is revoked itself', async () => {
    const { simulator, router } = await branch({ api: true });
    const agent = await acceptor(router);
    const port = await echoService();
    await agent.open(params(router, port), SOON);
    await agent.open(params(router, port, { forward_id: FORWARD_ID.replace(/1$/, '2') }), SOON);
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(4);
    agent.closeAll('revoked');
    await vi.waitFor(() => expect(ours(simulator, '/ip/firewall/nat', 'comment')).toEqual([]), { timeout: 5000 });
    await vi.waitFor(() => expect(ours(simulator, '/system/scheduler', 'name')).toEqual([]), { timeout: 5000 });
    // Should it be wanted again after all.
    expect(await agent.open(params(router, port), SOON)).toMatchObject({ way: 'api' });
  });

  it.each([
    ['a destination outside its list', { dst_address: '10.0.0.1' }, 'not_allowed'],
    ['its own loopback', { dst_address: '127.0.0.1' }, 'not_allowed'],
    ['a name', { dst_address: 'printer.lan' }, 'not_allowed'],
    ['a router it does not have', { router: 'other' }, 'invalid'],
    ['another device under the name', { hardware_id: 'other' }, 'wrong_router'],
  ])('refuses %s', async (_what, change, code) => {
    const { router } = await branch({ api: true });
    const agent = await acceptor(router);
    await expect(agent.open(params(router, 80, change), SOON)).rejects.toMatchObject({ code });
  });
});

describe('an open forward', () => {
  /** Back from a reboot: the sessions are opened again as soon as the agent's clock moves. */
  async function rebooted({ simulator, router }: Branch): Promise<void> {
    await simulator.reboot();
    await vi.waitFor(() => {
      routers.clock.advance(1000);
      expect(router.state().reachable).toBe(false);
    }, { timeout: 10_000, interval: 20 });
    await vi.waitFor(() => {
      routers.clock.advance(1000);
      expect(router.state().reachable).toBe(true);
    }, { timeout: 10_000, interval: 20 });
  }

  async function opened(ways: { api?: boolean; ssh?: boolean }, options: Partial<SimulatorOptions> = {}): Promise<Branch & { agent: ForwardAcceptor }> {
    const found = await branch(ways, options);
    const agent = await acceptor(found.router);
    await agent.open(params(found.router, await echoService()), SOON);
    return { ...found, agent };
  }

  it('has its rules again after the router was rebooted, which takes them away soon after the start, and its fail-safe with them', async () => {
    const time = new ManualTime();
    const { simulator, router } = await opened({ api: true }, { time });
    await rebooted({ simulator, router });
    await time.advance(5000);
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toEqual([]);
    routers.clock.advance(60_000);
    await vi.waitFor(() => expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2), { timeout: 5000 });
    expect(ours(simulator, '/system/scheduler', 'name')).toHaveLength(2);
    expect(lost).toEqual([]);
  });

  it('is not opened before a router that has just started has done what it does at its start', async () => {
    const time = new ManualTime();
    const { simulator, router } = await branch({ api: true }, { time, uptimeMs: 1000 });
    const choosing = choose(router, await echoService());
    await vi.waitFor(() => expect(routers.clock.pending).toBeGreaterThan(1));
    await time.advance(5000);
    routers.clock.advance(9000);
    const chosen = await choosing;
    await time.advance(5000);
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2);
    await chosen.way.close();
  });

  it('is lost when the rebooted router does not take the rules any more', async () => {
    const time = new ManualTime();
    const { simulator, router } = await opened({ api: true }, { time });
    const command = router.command.bind(router);
    vi.spyOn(router, 'command').mockImplementation(async (asked, deadline) => {
      if (asked.path === '/ip/firewall/nat/add') throw new AgentError('rejected', 'not enough permissions (9)');
      return command(asked, deadline);
    });
    await rebooted({ simulator, router });
    await time.advance(5000);
    routers.clock.advance(60_000);
    await vi.waitFor(() => expect(lost).toEqual([{ id: FORWARD_ID, reason: 'the rules are gone from the router: not enough permissions (9)' }]), { timeout: 5000 });
    expect(ours(simulator, '/system/scheduler', 'name')).toEqual([]);
  });

  it('has its rules again when somebody took them away and a connection found out', async () => {
    const { simulator, router } = await branch({ api: true });
    const chosen = await choose(router, await echoService());
    const ids = (await router.command({ path: '/ip/firewall/nat/print', words: [] }, SOON)).rows.map((row) => row['.id']!);
    await router.command({ path: '/ip/firewall/nat/remove', words: [`=.id=${ids.join(',')}`] }, SOON);
    const stream = chosen.way.connectNow!(SOON);
    await new Promise((resolve) => stream.once('error', resolve));
    await vi.waitFor(() => expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2), { timeout: 5000 });
    await vi.waitFor(async () => expect(await echo(chosen, 'again')).toBe('again'), { timeout: 5000 });
    await chosen.way.close();
  });

  it('is lost when somebody switches forwarding off, and found again: on again, or by the other way', async () => {
    const { simulator, router } = await branch({ ssh: true, api: true });
    const port = await echoService();
    const onLost = vi.fn<(reason: string) => void>();
    const chosen = await choose(router, port, LAN_HOST, undefined, { onLost });
    expect(chosen.way.name).toBe('ssh');
    await router.command({ path: '/ip/ssh/set', words: ['=forwarding-enabled=no'] }, SOON);
    await expect(chosen.way.connect(SOON)).rejects.toMatchObject({ code: 'not_allowed' });
    expect(onLost).toHaveBeenCalledWith(expect.stringContaining('forwarding-enabled'));
    await chosen.way.close();

    const again = await choose(router, port);
    expect(again.way.name).toBe('ssh');
    await again.way.close();
    const command = router.command.bind(router);
    vi.spyOn(router, 'command').mockImplementation(async (asked, deadline) => {
      if (asked.path === '/ip/ssh/set') throw new AgentError('rejected', 'not allowed by device-mode');
      return command(asked, deadline);
    });
    const other = await choose(router, port);
    expect(other).toMatchObject({ way: { name: 'api' }, reason: 'a dst-nat rule on the router; ssh: not allowed by device-mode' });
    await other.way.close();
    expect(simulator.items('/ip/firewall/nat').map((item) => item['comment'])).not.toContain('signalbox-test-1');
  });

  it('is lost when SSH alone does not answer any more, but not while the whole router is away', async () => {
    const { router } = await branch({ ssh: true, api: true });
    const port = await echoService();
    const onLost = vi.fn<(reason: string) => void>();
    const chosen = await choose(router, port, LAN_HOST, undefined, { onLost });
    vi.spyOn(router, 'openTcp').mockRejectedValue(new AgentError('router_unreachable', 'connection refused'));
    const refresh = vi.spyOn(router, 'refresh').mockRejectedValueOnce(new AgentError('router_unreachable', 'no answer'));
    await expect(chosen.way.connect(SOON)).rejects.toMatchObject({ code: 'router_unreachable' });
    await vi.waitFor(() => expect(refresh.mock.settledResults).toHaveLength(1));
    await chosen.way.close();
    expect(onLost).not.toHaveBeenCalled();

    vi.mocked(router.openTcp).mockRestore();
    const second = await choose(router, port, LAN_HOST, undefined, { onLost });
    vi.spyOn(router, 'openTcp').mockRejectedValue(new AgentError('router_unreachable', 'connection refused'));
    await expect(second.way.connect(SOON)).rejects.toMatchObject({ code: 'router_unreachable' });
    await vi.waitFor(() => expect(onLost).toHaveBeenCalledWith('the router does not answer over SSH any more: connection refused'), { timeout: 5000 });
    await second.way.close();
    const other = await choose(router, port);
    expect(other).toMatchObject({ way: { name: 'api' }, reason: 'a dst-nat rule on the router; ssh: connection refused' });
    await other.way.close();
  });

  it('that is closed and opened again at once keeps its new rules', async () => {
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
    const again = agent.open(params(router, await echoService()), SOON);
    await Promise.all([closed, again]);
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toHaveLength(2);
    expect(ours(simulator, '/system/scheduler', 'name')).toHaveLength(2);
  });

  it('is lost when another device answers in place of the router', async () => {
    const { router, simulator } = await opened({ api: true });
    const real = router.state.bind(router);
    vi.spyOn(router, 'state').mockImplementation(() => {
      const state = real();
      return { ...state, facts: state.facts && { ...state.facts, hardwareId: 'another' } };
    });
    await router.refresh(SOON);
    await vi.waitFor(() => expect(lost).toEqual([{ id: FORWARD_ID, reason: 'another device (another) answers at branch' }]), { timeout: 5000 });
    expect(ours(simulator, '/ip/firewall/nat', 'comment')).toEqual([]);
  });
});
