import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../agent/core/clock.ts';
import { AgentForwards } from '../../agent/forward/agent-forwards.ts';
import { AgentRouters, reachable } from '../harness/agent-router.ts';
import { Installation } from '../harness/installation.ts';
import { NetworkLab, whyNoLab } from '../harness/network-lab.ts';
import { silentLog } from '../harness/silent-log.ts';
import { eventually, waitUntil } from '../harness/wait-until.ts';

/**
 * The dst-nat way over real packets: client - entry port - control plane - agent - router (nftables in a network
 * namespace) - a host of the LAN whose default gateway is another one.
 */

const run = promisify(execFile);
const reason = whyNoLab();
if (reason !== undefined) process.stderr.write(`forwards through network namespaces are not tested: ${reason}\n`);
const has = (program: string): boolean => spawnSync('which', [program]).status === 0;

const LAN_HOST = fileURLToPath(new URL('../harness/lan-host.ts', import.meta.url));
const LOGIN = { username: 'signalbox', password: 'router-password' };
const USERS = [{ name: LOGIN.username, password: LOGIN.password }];
const MINUTES = 10;
const GRACE_MINUTES = 2;

interface Forward {
  id: string;
  port: number;
  way: string;
  target_reachable: boolean;
  authorized_at: string | null;
}

describe.skipIf(reason !== undefined)('a forward by dst-nat', () => {
  let lab: NetworkLab;
  let installation: Installation;
  let routerId: string;
  let folder: string;
  const sockets = new Set<net.Socket>();

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-namespaces-'));
    lab = await NetworkLab.open({ users: USERS });
    await once(lab.startInLan(process.execPath, [LAN_HOST]).stdout!, 'data');
    installation = await Installation.start({
      forwardPorts: '46000-46999',
      agent: {
        forwards: { allow: ['192.168.88.0/24'] },
        routers: [{ name: 'branch', host: lab.routerAddress, api: { port: 8728, ...LOGIN } }],
      },
    });
    routerId = await installation.routerId();
  });

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  });

  afterAll(async () => {
    await installation?.close();
    await lab?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(port: number): Promise<Forward> {
    const body = { expire_after_minutes: MINUTES, dst_port: port, dst_address: lab.lanAddress, allow_from: '127.0.0.1' };
    const forward = await installation.forward<Forward>(routerId, body);
    expect(forward).toMatchObject({ way: 'api', target_reachable: true });
    return forward;
  }

  const revoke = (forward: Forward): Promise<void> =>
    installation.call('DELETE', `/api/routers/${routerId}/transient-forwarding/${forward.id}`);

  function dial(host: string, port: number, localAddress?: string): Promise<net.Socket> {
    const socket = net.connect({ host, port, ...(localAddress === undefined ? {} : { localAddress }) });
    sockets.add(socket);
    socket.on('error', () => undefined);
    return new Promise((resolve, reject) => {
      socket.once('connect', () => resolve(socket));
      socket.once('error', reject);
    });
  }

  /** The router's port that leads to the target, as the rule of the forward says it. */
  async function routersPort(): Promise<number> {
    const rule = (await lab.items('/ip/firewall/nat')).find(
      (item) => item['comment']?.startsWith('signalbox-') && item['chain'] === 'dstnat',
    );
    return Number(rule?.['dst-port']);
  }

  const mine = async (): Promise<string[]> =>
    (await lab.items('/ip/firewall/nat')).flatMap((rule) => (rule['comment']?.startsWith('signalbox-') === true ? rule['comment'] : []));

  /** From the kernel, and from what the router prints. */
  async function rulesGone(port: number): Promise<void> {
    await waitUntil('the kernel has no such rule', async () => !(await lab.rules()).includes(`dport ${port}`));
    expect(await mine()).toEqual([]);
  }

  test.runIf(has('curl'))('carries curl both ways; the target sees the router', async () => {
    const forward = await open(80);
    const url = `http://127.0.0.1:${forward.port}/`;
    expect((await run('curl', ['-sS', '--max-time', '20', url])).stdout).toBe(`you are ${lab.lanRouterAddress}`);
    const file = path.join(folder, 'big');
    await writeFile(file, Buffer.alloc(5_000_000, 'x'));
    expect((await run('curl', ['-sS', '--max-time', '20', '-T', file, url])).stdout).toBe('got 5000000');
    await revoke(forward);
  });

  test.runIf(has('iperf3'))('carries iperf3 in both directions at once', async () => {
    const server = lab.startInLan('iperf3', ['--server', '--forceflush']);
    let told = '';
    server.stdout!.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const isListening = (times: number) => () => told.split('Server listening').length > times;
    await waitUntil('iperf3 listens', isListening(1));
    const forward = await open(5201);
    // It serves one client at a time, and the agent's look whether the target answers was one.
    await waitUntil('iperf3 listens again', isListening(2));
    const { stdout } = await run('iperf3', ['-c', '127.0.0.1', '-p', String(forward.port), '--bidir', '-t', '1', '-P', '4', '--json'], {
      timeout: 120_000,
      maxBuffer: 10e6,
    });
    const { end } = JSON.parse(stdout) as { end: Record<'sum_received' | 'sum_received_bidir_reverse', { bytes: number }> };
    for (const sum of [end.sum_received, end.sum_received_bidir_reverse]) expect(sum.bytes).toBeGreaterThan(1_000_000);
    await revoke(forward);
  });

  test("allows only the agent to use the router's port", async () => {
    const forward = await open(7);
    const port = await routersPort();
    expect(await lab.rules()).toContain(`ip saddr ${lab.agentAddress} fib daddr type local tcp dport ${port}`);
    await dial(lab.routerAddress, port, lab.agentAddress);
    await expect(dial(lab.routerAddress, port, lab.strangerAddress)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await revoke(forward);
  });

  test('ends at once when it is revoked, with its connections', async () => {
    const forward = await open(7);
    const port = await routersPort();
    const throughForward = await dial('127.0.0.1', forward.port);
    throughForward.write('hello');
    await once(throughForward, 'data');
    // One that the agent's host holds past the agent: only the router can end it.
    const pastAgent = await dial(lab.routerAddress, port, lab.agentAddress);
    pastAgent.write('hello');
    await once(pastAgent, 'data');
    const closed = new Promise((resolve) => throughForward.once('close', resolve));
    await revoke(forward);
    await closed;
    await rulesGone(port);
    await waitUntil('the router resets what it has forgotten', async () => {
      pastAgent.write('anybody there?');
      return pastAgent.destroyed;
    });
    await expect(dial(lab.routerAddress, port, lab.agentAddress)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect((await lab.items('/system/scheduler')).map((entry) => entry['name'])).toEqual([]);
  });

  test("is removed by the router's scheduler, with its connections, when control plane and agent are dead", async () => {
    await open(7);
    const port = await routersPort();
    await installation.server.kill();
    await installation.agent.kill();
    // Nobody is left to tidy up: the router still forwards.
    const kept = await dial(lab.routerAddress, port, lab.agentAddress);
    kept.write('hello');
    await once(kept, 'data');
    expect(await mine()).toHaveLength(2);
    await lab.ask({ method: 'jump', ms: (MINUTES + GRACE_MINUTES) * 60_000 });
    await rulesGone(port);
    await waitUntil('the router resets what it has forgotten', async () => {
      kept.write('anybody there?');
      return kept.destroyed;
    });
    await expect(dial(lab.routerAddress, port, lab.agentAddress)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await waitUntil('its own entries are gone', async () => (await lab.items('/system/scheduler')).length === 0);
  });
});

describe.skipIf(reason !== undefined)('the agent alone', () => {
  test('removes rules and connections at expiry', async () => {
    const routers = new AgentRouters();
    const lab = await NetworkLab.open({ users: USERS });
    try {
      await once(lab.startInLan(process.execPath, [LAN_HOST]).stdout!, 'data');
      const router = await routers.adapter({
        name: 'branch',
        host: lab.routerAddress,
        api: { port: 8728, tls: false, anonymous_tls: false, ...LOGIN },
        forward_way: 'auto',
      });
      await reachable(router);
      const agentForwards = new AgentForwards({
        routers: new Map([['branch', router]]),
        dialChannel: () => Promise.reject(new Error('no control plane here')),
        channelRefusal: () => undefined,
        allow: ['192.168.88.0/24'],
        onLost: () => undefined,
        maxConnections: 10,
        stateFolder: await routers.stateFolder(),
        clock: systemClock,
        log: silentLog,
      });
      agentForwards.start();
      await agentForwards.open(
        {
          router: 'branch',
          hardware_id: router.state().facts!.hardwareId,
          forward_id: '01900000-0000-7000-8000-000000000001',
          dst_address: lab.lanAddress,
          dst_port: 7,
          expires_in_ms: 1500,
          channel_token: 'token',
          warm_channels: 0,
          max_channels: 8,
        },
        { timeoutMs: 10_000 },
      );
      expect(await lab.rules()).toContain(`ip saddr ${lab.agentAddress}`);
      await eventually(async () => expect(await lab.rules()).not.toContain(`ip saddr ${lab.agentAddress}`));
      await agentForwards.stop();
    } finally {
      await routers.close();
      await lab.close();
    }
  });
});
