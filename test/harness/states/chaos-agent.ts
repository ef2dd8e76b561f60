import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { startSimulator } from '../../simulator/index.ts';
import type { Simulator } from '../../simulator/index.ts';
import { compileCache } from '../chaos/agent-machine.ts';
import { Program } from '../program.ts';
import { StallProxy } from '../stall-proxy.ts';

const PROGRAM = 'test/harness/chaos/programs/agent.ts';
const LOGIN = { username: 'signalbox', password: 'router-password' };

/** A simulated router and the line to its API. */
export class ChaosRouter {
  readonly name: string;
  readonly simulator: Simulator;
  readonly line: StallProxy;
  /** In the API; known when it has answered. */
  id = '';

  private constructor(name: string, simulator: Simulator, line: StallProxy) {
    this.name = name;
    this.simulator = simulator;
    this.line = line;
  }

  static async start(name: string): Promise<ChaosRouter> {
    const users = [{ name: LOGIN.username, password: LOGIN.password, group: 'full' }];
    const simulator = await startSimulator({ apiPort: 0, sshPort: null, identity: name, serialNumber: `SERIAL-${name}`, users });
    return new ChaosRouter(name, simulator, await StallProxy.start(simulator.apiPort));
  }

  setPassword(isRight: boolean): void {
    const users = this.simulator.router.table('/user');
    users.update(users.find('name', LOGIN.username)!, [['password', isRight ? LOGIN.password : 'another']]);
    this.simulator.faults.resetConnections();
  }

  get configuration(): object {
    return { name: this.name, host: '127.0.0.1', api: { port: this.line.port, ...LOGIN } };
  }

  async close(): Promise<void> {
    await this.line.close();
    await this.simulator.close();
  }
}

/** An agent as a process, its clock, its line to the control plane, and its routers. */
export class ChaosAgent {
  readonly name: string;
  readonly program: Program;
  readonly line: StallProxy;
  readonly routers: readonly ChaosRouter[];
  readonly #folder: string;

  private constructor(folder: string, name: string, parts: Pick<ChaosAgent, 'line' | 'routers'>) {
    this.#folder = folder;
    this.name = name;
    this.line = parts.line;
    this.routers = parts.routers;
    this.program = new Program(PROGRAM, [path.join(folder, 'agent.yaml'), path.join(folder, 'clock')], compileCache(path.dirname(folder)));
  }

  /** @param port of the control plane */
  static async create(folder: string, { name, port, routers }: { name: string; port: number; routers: readonly ChaosRouter[] }) {
    await mkdir(folder);
    const agent = new ChaosAgent(folder, name, { line: await StallProxy.start(port), routers });
    const configuration = {
      server: `http://127.0.0.1:${agent.line.port}`,
      credentials: 'credentials.json',
      state: 'state',
      log_level: 'warn',
      routers: routers.map((router) => router.configuration),
    };
    await writeFile(path.join(folder, 'agent.yaml'), stringify(configuration));
    await agent.setClock(0);
    return agent;
  }

  get credentialsFile(): string {
    return path.join(this.#folder, 'credentials.json');
  }

  /** Sets its clock wrong by this many milliseconds. */
  async setClock(errorMs: number): Promise<void> {
    await writeFile(path.join(this.#folder, 'clock'), String(errorMs));
  }

  async close(): Promise<void> {
    await this.program.kill();
    await this.line.close();
    for (const router of this.routers) await router.close();
  }
}
