import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { startAgent } from '../../agent/app.ts';
import type { RunningAgent } from '../../agent/app.ts';
import { parseConfig } from '../../agent/config.ts';
import { enrol } from '../../agent/link/enrol.ts';
import { startSimulator } from '../simulator/index.ts';
import type { Simulator } from '../simulator/index.ts';
import { Program } from './program.ts';
import { silentLog } from './silent-log.ts';
import { StallProxy } from './stall-proxy.ts';
import { waitUntil } from './wait-until.ts';
import type { World } from './world.ts';

const LOGIN = { username: 'signalbox', password: 'router-password' };

/** What the API shows of a router's state. */
export interface ShownState {
  id: string;
  has_pulse: boolean;
  state: string;
  state_since: string;
  state_reason: string | null;
}

/** One router with an agent of its own, and lines that can be cut: between the agent and the router, and to the control plane. */
export class Stand {
  readonly name: string;
  readonly simulator: Simulator;
  /** From the agent to the router's API. */
  readonly routerLine: StallProxy;
  /** From the agent to the control plane. */
  readonly tunnelLine: StallProxy;
  agentId = '';
  routerId = '';
  /** The agent in this process. */
  agent: RunningAgent | undefined;
  /** The agent as a process of its own, to be killed. */
  readonly program: Program;
  readonly #world: World;
  readonly #folder: string;

  private constructor(world: World, name: string, parts: Pick<Stand, 'simulator' | 'routerLine' | 'tunnelLine'>) {
    this.name = name;
    this.#world = world;
    this.#folder = path.join(world.folder, name);
    this.simulator = parts.simulator;
    this.routerLine = parts.routerLine;
    this.tunnelLine = parts.tunnelLine;
    this.program = new Program('agent/main.ts', ['run', '--config', path.join(this.#folder, 'agent.yaml')]);
  }

  /** Resolves when the router answers. @param asProcess runs the agent as a process */
  static async start(world: World, name: string, { asProcess = false } = {}): Promise<Stand> {
    const simulator = await startSimulator({
      apiPort: 0,
      sshPort: null,
      identity: name,
      serialNumber: `SERIAL-${name}`,
      users: [{ name: LOGIN.username, password: LOGIN.password, group: 'full' }],
    });
    const routerLine = await StallProxy.start(simulator.apiPort);
    const tunnelLine = await StallProxy.start(Number(new URL(world.origin).port));
    const stand = new Stand(world, name, { simulator, routerLine, tunnelLine });
    await mkdir(stand.#folder);
    await stand.enrol();
    await (asProcess ? stand.startProgram() : stand.startAgent());
    stand.routerId = await waitUntil(`${name} answers`, async () => {
      const { body } = await world.caller.call<{ data: (ShownState & { identity: string })[] }>('GET', '/api/routers');
      return body.data.find(({ identity, state }) => identity === name && state === 'answering')?.id;
    });
    return stand;
  }

  /** A new agent, or the same one on another machine. */
  async enrol(replacesAgentId?: string): Promise<void> {
    const { credentials } = this.#world.server.services;
    const { teamId } = this.#world.caller;
    const replaces = replacesAgentId === undefined ? {} : { replacesAgentId };
    const { token } = await credentials.createEnrolToken({ teamId, siteId: null, ...replaces });
    const credentialsFile = path.join(this.#folder, 'credentials.json');
    await rm(credentialsFile, { force: true });
    await enrol({ server: this.#world.server.url, token, name: this.name, credentialsFile });
    const { body } = await this.#world.caller.call<{ data: { id: string; name: string }[] }>('GET', '/api/agents');
    this.agentId = body.data.find(({ name }) => name === this.name)!.id;
  }

  async startAgent(): Promise<void> {
    // The shortest pauses between dials: tests wait for what comes after.
    this.agent = await startAgent(parseConfig(this.#config(), this.#folder), { log: silentLog, random: () => 0 });
  }

  async startProgram(): Promise<void> {
    await writeFile(path.join(this.#folder, 'agent.yaml'), stringify(this.#config()));
    this.program.start();
  }

  setRouterPassword(password: string): void {
    const users = this.simulator.router.table('/user');
    users.update(users.find('name', LOGIN.username)!, [['password', password]]);
    this.simulator.faults.resetConnections();
  }

  restoreRouterPassword(): void {
    this.setRouterPassword(LOGIN.password);
  }

  async read(): Promise<ShownState> {
    return (await this.#world.caller.call<{ data: ShownState }>('GET', `/api/routers/${this.routerId}`)).body.data;
  }

  /** Resolves with what the API shows as soon as the router is in that state. */
  becomes(state: string, reason: string | null, withinMs?: number): Promise<ShownState> {
    const what = `${this.name} is ${state}, ${reason}`;
    const ask = async (): Promise<ShownState | undefined> => {
      const shown = await this.read();
      return shown.state === state && shown.state_reason === reason ? shown : undefined;
    };
    return waitUntil(what, ask, withinMs);
  }

  async stopAgent(): Promise<void> {
    const { agent } = this;
    this.agent = undefined;
    await agent?.close();
  }

  async close(): Promise<void> {
    await this.stopAgent();
    await this.program.stop();
    await this.routerLine.close();
    await this.tunnelLine.close();
    await this.simulator.close();
  }

  #config() {
    const { front } = this.#world;
    return {
      ...(front === undefined
        ? { server: `http://127.0.0.1:${this.tunnelLine.port}` }
        : { server: `https://localhost:${this.tunnelLine.port}`, server_ca: front.caFile }),
      credentials: path.join(this.#folder, 'credentials.json'),
      state: path.join(this.#folder, 'state'),
      forwards: { allow: ['127.0.0.0/8'] },
      routers: [{ name: this.name, host: '127.0.0.1', api: { port: this.routerLine.port, ...LOGIN } }],
    };
  }
}
