import { once } from 'node:events';
import net from 'node:net';
import { AgentForwards } from '../../agent/forward/agent-forwards.ts';
import { AllowList } from '../../agent/forward/allowlist.ts';
import { chooseWay } from '../../agent/forward/choose-way.ts';
import type { ChosenWay, WayDeps } from '../../agent/forward/choose-way.ts';
import { NatPorts } from '../../agent/forward/nat-ports.ts';
import { ForwardingMemory } from '../../agent/forward/forwarding-memory.ts';
import { SshForwarding } from '../../agent/forward/ssh-forwarding.ts';
import type { ForwardOpenParams } from '../../agent/forward/types.ts';
import type { RouterAdapter } from '../../agent/routers/adapter.ts';
import type { Simulator, SimulatorOptions } from '../simulator/index.ts';
import { AgentRouters, reachable } from './agent-router.ts';
import type { ManualClock } from './manual-clock.ts';
import { readAll } from './read-all.ts';
import { silentLog } from './silent-log.ts';

/** The agent's side of forwards, against whole simulated routers and without a control plane. */

export const SOON = { timeoutMs: 10_000 };
export const FORWARD_ID = '01900000-0000-7000-8000-000000000001';
/** A machine behind the router; the simulator knows that it is really this one. */
export const LAN_HOST = '192.168.88.10';

export interface Branch {
  simulator: Simulator;
  router: RouterAdapter;
}

export interface Sessions {
  api?: boolean;
  ssh?: boolean;
}

/** Branches of an enterprise, their agents and what listens behind their routers; all closed together. */
export class ForwardBranches {
  readonly #routers = new AgentRouters();
  readonly #servers: net.Server[] = [];
  #agents: AgentForwards[] = [];
  /** Forwards that an agent has reported as lost. */
  readonly lost: { id: string; reason: string }[] = [];

  get clock(): ManualClock {
    return this.#routers.clock;
  }

  stateFolder(): Promise<string> {
    return this.#routers.stateFolder();
  }

  /** @returns the port of an echo behind every router, at {@link LAN_HOST} */
  async echoService(): Promise<number> {
    const server = net.createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined);
      socket.pipe(socket);
    });
    this.#servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as net.AddressInfo).port;
  }

  /** A router, and the agent's sessions with it. @param sshThrough another port that leads to the router's SSH */
  async branch(
    sessions: Sessions,
    options: Partial<SimulatorOptions> = {},
    sshThrough?: (port: number) => Promise<number>,
  ): Promise<Branch> {
    const simulator = await this.#routers.simulate({ hosts: { [LAN_HOST]: '127.0.0.1' }, ...options });
    const config = this.#routers.config(simulator, sessions);
    if (sshThrough && config.ssh) config.ssh.port = await sshThrough(config.ssh.port);
    const router = await this.#routers.adapter(config);
    await reachable(router);
    return { simulator, router };
  }

  /** The way alone, without an agent that looks after it. */
  async choose(
    router: RouterAdapter,
    port: number,
    host = LAN_HOST,
    allow = ['127.0.0.0/8', '192.168.0.0/16'],
    change: Partial<WayDeps> = {},
  ): Promise<ChosenWay> {
    const deps = {
      sshForwarding: new SshForwarding({
        memory: new ForwardingMemory(await this.stateFolder()),
        log: silentLog,
        clock: this.clock,
        agentTag: () => Promise.resolve('signalbox-test'),
      }),
      allow: new AllowList(allow),
      natPorts: new NatPorts(),
      clock: this.clock,
      log: silentLog,
      mark: 'signalbox-test-1',
      expiresInMs: 600_000,
      onLeftBehind: () => undefined,
      onLost: () => undefined,
      ...change,
    };
    return chooseWay(router, { host, port }, deps, SOON);
  }

  /** What in an agent opens forwards and closes them. */
  async agent(router: RouterAdapter, stateFolder?: string): Promise<AgentForwards> {
    const agent = new AgentForwards({
      routers: new Map([[router.name, router]]),
      dialChannel: () => Promise.reject(new Error('no control plane here')),
      channelRefusal: () => undefined,
      allow: ['192.168.0.0/16'],
      maxConnections: 10,
      onLost: (id, reason) => this.lost.push({ id, reason }),
      stateFolder: stateFolder ?? (await this.stateFolder()),
      clock: this.clock,
      log: silentLog,
    });
    agent.start();
    this.#agents.push(agent);
    return agent;
  }

  /** The agents so far are killed: none is asked to tidy up. */
  killAgents(): void {
    this.#agents = [];
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) await agent.stop();
    for (const server of this.#servers) server.close();
    await this.#routers.close();
  }
}

/** What the control plane asks of the router's agent. */
export function openParams(router: RouterAdapter, dstPort: number, change: Partial<ForwardOpenParams> = {}): ForwardOpenParams {
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

/** Says something through the way, half-closes and reads the answer. */
export async function echo(chosen: ChosenWay, text: string): Promise<string> {
  const stream = await chosen.way.connect(SOON);
  stream.end(text);
  return String(await readAll(stream));
}

/** Whether the router forwards over SSH. */
export function forwardingOf(simulator: Simulator): string | undefined {
  return simulator.items('/ip/ssh')[0]?.['forwarding-enabled'];
}

/** Comments of the NAT rules that are an agent's: two for each forward. */
export function rulesOf(simulator: Simulator): string[] {
  return tagged(simulator, '/ip/firewall/nat', 'comment');
}

/** Names of the scheduler entries that are an agent's: two for each forward by rules, their fail-safe. */
export function entriesOf(simulator: Simulator): string[] {
  return tagged(simulator, '/system/scheduler', 'name');
}

function tagged(simulator: Simulator, menu: string, property: string): string[] {
  return simulator
    .items(menu)
    .map((item) => item[property] ?? '')
    .filter((text) => text.startsWith('signalbox-'));
}
