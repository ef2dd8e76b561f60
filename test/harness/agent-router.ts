import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RouterAdapter } from '../../agent/routers/adapter.ts';
import { createRouterAdapter, type RouterConfig } from '../../agent/routers/router.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../simulator/index.ts';
import { ManualClock } from './manual-clock.ts';
import { silentLog } from './silent-log.ts';
import { eventually } from './wait-until.ts';

/** Simulated routers and the agent's adapters to them, all closed together. */
export class AgentRouters {
  readonly clock = new ManualClock();
  readonly #cleanups: (() => Promise<unknown>)[] = [];
  #stateFolder: string | undefined;

  async stateFolder(): Promise<string> {
    if (this.#stateFolder === undefined) {
      const folder = await mkdtemp(path.join(tmpdir(), 'agent-router-'));
      this.#stateFolder = folder;
      this.#cleanups.unshift(() => rm(folder, { recursive: true, force: true }));
    }
    return this.#stateFolder;
  }

  /** A router whose user `agent` has a password with difficult characters. */
  async simulate(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
    const simulator = await startSimulator({ users: [{ name: 'agent', password: PASSWORD }], ...options });
    this.#cleanups.push(() => simulator.close());
    return simulator;
  }

  config(simulator: Simulator, ways: { api?: boolean; ssh?: boolean } = { api: true }): RouterConfig {
    const credentials = { username: 'agent', password: PASSWORD };
    return {
      name: 'branch',
      host: '127.0.0.1',
      ...(ways.api ? { api: { port: simulator.apiPort, tls: false, anonymous_tls: false, ...credentials } } : {}),
      ...(ways.ssh ? { ssh: { port: simulator.sshPort, ...credentials } } : {}),
      forward_way: 'auto',
    };
  }

  /** Without back-off: a lost session is opened again as soon as the clock moves. */
  async adapter(config: RouterConfig): Promise<RouterAdapter> {
    const stateFolder = await this.stateFolder();
    const adapter = createRouterAdapter(config, { stateFolder, log: silentLog, clock: this.clock, random: () => 0 });
    this.#cleanups.push(() => adapter.close());
    return adapter;
  }

  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup();
  }
}

const PASSWORD = 'Łódź€ secret';

export async function reachable(adapter: RouterAdapter): Promise<void> {
  await eventually(() => {
    if (!adapter.state().reachable) throw new Error(`not reachable: ${adapter.state().reason}`);
  });
}
