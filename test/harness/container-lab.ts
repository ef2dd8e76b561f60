import { execFile, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { SimulatorOptions } from '../simulator/index.ts';
import { ip, removeAbandoned } from './network-lab.ts';
import { endProcess, RouterProcess } from './router-process.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What fetches a page from inside of the router's namespace, where the test is not. */
const FETCH = 'fetch(process.argv[1], { headers: { authorization: `Bearer ${process.argv[2]}` } }).then((a) => a.text()).then(console.log)';

/**
 * A router with a container, as `enrol-token create --routeros` sets them up: two namespaces and the cable between them.
 *
 *     router 172.31.255.1 (api-ssl, ssh, and the control plane, which is elsewhere in reality) -- container 172.31.255.2
 *
 * Both are private to the test, so that the fixed addresses conflict with nothing.
 */
export class ContainerLab {
  static readonly routerAddress = '172.31.255.1';
  readonly routerNamespace = `sb-${process.pid}-0-router`;
  readonly agentNamespace = `sb-${process.pid}-0-agent`;
  readonly #children: ChildProcess[] = [];
  #router: RouterProcess | undefined;

  private constructor() {}

  /** @param options of the simulated router, which listens on the usual ports of api-ssl and ssh */
  static async open(options: Partial<SimulatorOptions>): Promise<ContainerLab> {
    removeAbandoned();
    const lab = new ContainerLab();
    try {
      lab.#build();
      const where = { host: ContainerLab.routerAddress, apiPort: null, apiTlsPort: 8729, sshPort: 22, tls: 'self-signed' as const };
      lab.#router = await RouterProcess.start(lab.routerNamespace, { ...where, containers: true, ...options });
      return lab;
    } catch (error) {
      await lab.close();
      throw error;
    }
  }

  /** @throws Error before {@link ContainerLab.open} has ended */
  get router(): RouterProcess {
    if (!this.#router) throw new Error('the simulated router has not been started');
    return this.#router;
  }

  /** Runs `signalbox serve` on the router's side until the lab is closed. */
  startServer(env: Record<string, string>): void {
    const words = ['netns', 'exec', this.routerNamespace, process.execPath, path.join(ROOT, 'server/main.ts'), 'serve'];
    this.#children.push(spawn('ip', words, { stdio: 'ignore', env: { PATH: process.env['PATH'], ...env } }));
  }

  /** @throws Error without an answer, or without JSON */
  async get<T>(url: string, key: string): Promise<T> {
    const words = ['netns', 'exec', this.routerNamespace, process.execPath, '-e', FETCH, url, key];
    const { stdout } = await promisify(execFile)('ip', words, { timeout: 120_000 });
    return JSON.parse(stdout) as T;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#children.map(endProcess), this.#router?.close()]);
    for (const name of [this.routerNamespace, this.agentNamespace]) spawnSync('ip', ['netns', 'delete', name]);
  }

  #build(): void {
    const [router, agent] = [this.routerNamespace, this.agentNamespace];
    for (const name of [router, agent]) ip('netns', 'add', name);
    ip('-n', router, 'link', 'add', 'veth-signalbox', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', agent);
    ip('-n', router, 'addr', 'add', `${ContainerLab.routerAddress}/30`, 'dev', 'veth-signalbox');
    ip('-n', agent, 'addr', 'add', '172.31.255.2/30', 'dev', 'eth0');
    for (const [name, link] of [
      [router, 'lo'],
      [router, 'veth-signalbox'],
      [agent, 'lo'],
      [agent, 'eth0'],
    ] as const) {
      ip('-n', name, 'link', 'set', link, 'up');
    }
  }
}
