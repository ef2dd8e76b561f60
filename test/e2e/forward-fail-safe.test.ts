import { once } from 'node:events';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentError } from '../../agent/core/errors.ts';
import { FORWARD_ID, ForwardBranches, SOON, openParams } from '../harness/forward-branch.ts';
import type { Branch } from '../harness/forward-branch.ts';
import { ManualTime } from '../simulator/index.ts';
import type { Simulator } from '../simulator/index.ts';
import { Trap } from '../simulator/menu/types.ts';
import { eventually } from '../harness/wait-until.ts';

/** A router removes a forward by itself: with its scheduler, or, if device-mode forbids that, with a waiting script. */

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
  it('a waiting script on the router ends with the forward', async () => {
    const { simulator, router } = await home();
    const agent = await branches.agent(router);
    await agent.open(openParams(router, 443), SOON);
    expect(onRouter(simulator)).toEqual(OPEN);
    await agent.close(FORWARD_ID);
    expect(onRouter(simulator)).toEqual(NOTHING);
  });

  it('the router removes the rules by itself without agent and control plane', async () => {
    const { simulator, router } = await home();
    await (await branches.agent(router)).open(openParams(router, 443), SOON);
    branches.killAgents();
    await time.advance(600_000);
    expect(onRouter(simulator)).toEqual(OPEN);
    await time.advance(61_000);
    expect(onRouter(simulator)).toEqual(NOTHING);
  });

  it('the next run of a killed agent ends the script too', async () => {
    const { simulator, router } = await home();
    const stateFolder = await branches.stateFolder();
    await (await branches.agent(router, stateFolder)).open(openParams(router, 443), SOON);
    branches.killAgents();
    await branches.agent(router, stateFolder);
    branches.clock.advance(10_000);
    await eventually(() => expect(onRouter(simulator)).toEqual(NOTHING));
  });

  it('a rebooted router, which keeps the rules but loses the script, gets a new script', async () => {
    const { simulator, router } = await home();
    await (await branches.agent(router)).open(openParams(router, 443), SOON);
    await simulator.reboot();
    await eventually(() => {
      branches.clock.advance(1000);
      expect(router.state().reachable).toBe(false);
    });
    expect(onRouter(simulator)).toEqual({ ...OPEN, running: 0 });
    await eventually(async () => {
      await time.advance(1000);
      branches.clock.advance(1000);
      expect(onRouter(simulator)).toEqual(OPEN);
    });
    await time.advance(700_000);
    expect(onRouter(simulator)).toEqual(NOTHING);
  });

  it('and scripts are forbidden too, the forward still opens and states who removes the rules', async () => {
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

describe('a router without agent and control plane', () => {
  const CONNECTIONS = '/ip/firewall/connection';
  const OVER_MS = 660_000 + 35_000;
  const clients: net.Socket[] = [];
  afterEach(() => clients.splice(0).forEach((client) => client.destroy()));

  async function connected(port: number): Promise<net.Socket> {
    const client = net.connect({ host: '127.0.0.1', port });
    clients.push(client);
    client.on('error', () => undefined);
    client.write('hello');
    await once(client, 'data');
    return client;
  }

  function entryPort(simulator: Simulator): number {
    return Number(
      simulator.items('/ip/firewall/nat').find((rule) => rule['chain'] === 'dstnat' && rule['comment']?.startsWith('signalbox-'))?.[
        'dst-port'
      ],
    );
  }

  it.each([
    ['6.49.10', 'scheduler'],
    ['7.18.2', 'scheduler'],
    ['7.18.2', 'delayed script'],
    ['7.20.8', 'scheduler'],
  ])('with RouterOS %s ends the connections through the rules that it removes, and no others: %s', async (version, kind) => {
    const deviceMode = kind === 'scheduler' ? {} : { deviceMode: 'home' as const };
    const { simulator, router } = await branches.branch({ api: true }, { version, time, ...deviceMode });
    const target = await branches.echoService();
    const words = [
      '=chain=dstnat',
      '=action=dst-nat',
      '=protocol=tcp',
      '=dst-port=60999',
      '=to-addresses=192.168.88.10',
      `=to-ports=${target}`,
    ];
    await router.command({ path: '/ip/firewall/nat/add', words }, SOON);
    await (await branches.agent(router)).open(openParams(router, target), SOON);
    const through = await connected(entryPort(simulator));
    const past = await connected(60_999);
    branches.killAgents();
    await time.advance(OVER_MS);
    expect(onRouter(simulator)).toEqual(NOTHING);
    await eventually(() => expect(through.destroyed).toBe(true));
    past.write('still there?');
    expect(String((await once(past, 'data'))[0])).toBe('still there?');
  });

  it('matches connections whose ports are in separate fields', async () => {
    const { simulator, router } = await branches.branch({ api: true }, { version: '7.20.8', time });
    await (await branches.agent(router)).open(openParams(router, 443), SOON);
    const row = (source: string, port: number): [string, string][] => [
      ['protocol', 'tcp'],
      ['src-address', source],
      ['src-port', '50000'],
      ['dst-address', '127.0.0.1'],
      ['dst-port', String(port)],
    ];
    const table = simulator.router.table(CONNECTIONS);
    const add = (source: string, port: number): string => table.add(row(source, port), { dynamic: true }).id;
    const ours = add('127.0.0.1', entryPort(simulator));
    const others = [add('127.0.0.1', 60_999), add('127.0.0.10', entryPort(simulator))];
    branches.killAgents();
    await time.advance(OVER_MS);
    const left = simulator.items(CONNECTIONS).map((item) => item['.id']);
    expect(left).toEqual(expect.arrayContaining(others));
    expect(left).not.toContain(ours);
  });

  it('removes everything else when it cannot read connections', async () => {
    const { simulator, router } = await branches.branch({ api: true }, { time });
    await (await branches.agent(router)).open(openParams(router, await branches.echoService()), SOON);
    const through = await connected(entryPort(simulator));
    branches.killAgents();
    const refusing = vi.spyOn(simulator.router.table(CONNECTIONS), 'remove').mockImplementation(() => {
      throw new Trap('failure: not allowed');
    });
    await time.advance(OVER_MS);
    expect(onRouter(simulator)).toEqual(NOTHING);
    expect(refusing).toHaveBeenCalled();
    refusing.mockRestore();
    expect(through.destroyed).toBe(false);
  });
});

describe('forwarding-enabled of a router without agent and control plane', () => {
  const OVER_MS = 660_000 + 35_000;
  const value = (simulator: Simulator): string | undefined => simulator.items('/ip/ssh')[0]?.['forwarding-enabled'];

  const SESSIONS = { api: { api: true, ssh: true }, console: { ssh: true } };

  it.each([
    ['6.49.10', 'scheduler', 'api'],
    ['7.18.2', 'scheduler', 'api'],
    ['7.18.2', 'delayed script', 'api'],
    ['6.49.10', 'scheduler', 'console'],
    ['7.18.2', 'scheduler', 'console'],
    ['7.18.2', 'delayed script', 'console'],
  ] as const)('with RouterOS %s is restored by the router: %s, %s', async (version, kind, sessions) => {
    const deviceMode = kind === 'scheduler' ? {} : { deviceMode: 'home' as const };
    const { simulator, router } = await branches.branch(SESSIONS[sessions], { version, time, ...deviceMode });
    const before = value(simulator);
    const opened = await (await branches.agent(router)).open(openParams(router, await branches.echoService()), SOON);
    expect(opened.way).toBe('ssh');
    expect(opened.way_reason.includes('device-mode')).toBe(kind === 'delayed script');
    expect(value(simulator)).toBe('local');
    branches.killAgents();
    await time.advance(600_000);
    expect(value(simulator)).toBe('local');
    await time.advance(OVER_MS - 600_000);
    expect(value(simulator)).toBe(before);
    expect(onRouter(simulator)).toEqual(NOTHING);
  });

  it('keeps a value that someone else has set meanwhile', async () => {
    const { simulator, router } = await branches.branch({ api: true, ssh: true }, { time });
    await (await branches.agent(router)).open(openParams(router, await branches.echoService()), SOON);
    branches.killAgents();
    await router.command({ path: '/ip/ssh/set', words: ['=forwarding-enabled=both'] }, SOON);
    await time.advance(OVER_MS);
    expect(value(simulator)).toBe('both');
    expect(onRouter(simulator)).toEqual(NOTHING);
  });

  it('is restored with the last forward, and nothing is left behind', async () => {
    const { simulator, router } = await branches.branch({ api: true, ssh: true }, { time });
    const agent = await branches.agent(router);
    const other = '01900000-0000-7000-8000-000000000002';
    const port = await branches.echoService();
    await agent.open(openParams(router, port, { forward_id: other, expires_in_ms: 1_800_000 }), SOON);
    await agent.open(openParams(router, port), SOON);
    await time.advance(OVER_MS);
    expect(value(simulator)).toBe('local');
    await agent.close(FORWARD_ID);
    expect(value(simulator)).toBe('local');
    await agent.close(other);
    expect(value(simulator)).toBe('no');
    expect(onRouter(simulator)).toEqual(NOTHING);
  });

  it('survives a search for leftovers and a reboot of the router', async () => {
    const { simulator, router } = await branches.branch({ api: true, ssh: true }, { time });
    const agent = await branches.agent(router);
    await agent.open(openParams(router, await branches.echoService()), SOON);
    await agent.close('01900000-0000-7000-8000-000000000003');
    branches.clock.advance(10_000);
    await eventually(() => expect(onRouter(simulator)).toEqual({ ...NOTHING, entries: 1 }));
    branches.killAgents();
    await simulator.reboot();
    await time.advance(OVER_MS);
    expect(value(simulator)).toBe('no');
    expect(onRouter(simulator)).toEqual(NOTHING);
  });
});
