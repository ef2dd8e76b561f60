import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import process from 'node:process';
import { promisify } from 'node:util';
import type { SimulatorOptions } from '../simulator/index.ts';
import type { LabCall } from './namespaced-simulator.ts';
import { endProcess, RouterProcess } from './router-process.ts';

const run = promisify(execFile);
const NETNS = '/run/netns';
/** Names are `sb-<pid of the test>-<number>-…`; an interface's name has 15 characters at most. */
const OWN = /^sb-(\d+)-\d+-(?:router|lan|agent)$/;
let lastNumber = 0;

/** Why this machine cannot run a lab; undefined when it can. */
export function whyNoLab(): string | undefined {
  if (process.getuid?.() !== 0) return 'not root';
  const missing = ['ip', 'nft'].find((program) => spawnSync('which', [program]).status !== 0);
  if (missing !== undefined) return `${missing} is not installed`;
  if (!existsSync('/proc/net/nf_conntrack')) return 'the kernel does not list connections';
  const allowed = spawnSync('ip', ['netns', 'exec', 'none-of-this-name', 'true']).stderr.toString();
  return /not permitted/i.test(allowed) ? 'network namespaces are not permitted' : undefined;
}

/**
 * Three networks of the kernel, joined as in a branch office:
 *
 *     this machine (agent .2, another client .3) -- router .1 | 192.168.88.1 -- 192.168.88.10, whose gateway is 192.168.88.254
 *
 * No host has .254: packets of the LAN host to other networks are lost. The router is a simulated one inside its namespace.
 */
export class NetworkLab {
  readonly routerAddress: string;
  readonly agentAddress: string;
  readonly strangerAddress: string;
  readonly lanAddress = '192.168.88.10';
  readonly lanRouterAddress = '192.168.88.1';
  readonly #id: string;
  readonly #children: ChildProcess[] = [];
  #router: RouterProcess | undefined;

  private constructor(id: string, network: string) {
    this.#id = id;
    this.routerAddress = `${network}.1`;
    this.agentAddress = `${network}.2`;
    this.strangerAddress = `${network}.3`;
  }

  /** @param options of the simulated router; its API listens on its usual port */
  static async open(options: Partial<SimulatorOptions> = {}): Promise<NetworkLab> {
    removeAbandoned();
    lastNumber += 1;
    // 198.18.0.0/15 is reserved for benchmarks.
    const network = `198.${18 + (process.pid & 1)}.${Math.floor(Math.random() * 256)}`;
    const lab = new NetworkLab(`${process.pid}-${lastNumber}`, network);
    try {
      lab.#build();
      await lab.#startRouter(options);
      return lab;
    } catch (error) {
      await lab.close();
      throw error;
    }
  }

  get routerNamespace(): string {
    return `sb-${this.#id}-router`;
  }

  get lanNamespace(): string {
    return `sb-${this.#id}-lan`;
  }

  /** Rules of the kernel in the router, as nft lists them. */
  async rules(): Promise<string> {
    return (await run('ip', ['netns', 'exec', this.routerNamespace, 'nft', 'list', 'ruleset'])).stdout;
  }

  /** Runs a program in the LAN until the lab is closed. */
  startInLan(program: string, args: string[]): ChildProcess {
    const child = spawn('ip', ['netns', 'exec', this.lanNamespace, program, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    this.#children.push(child);
    return child;
  }

  /** Asks the process of the simulated router. */
  async ask<T>(call: LabCall): Promise<T> {
    if (!this.#router) throw new Error('the simulated router has not been started');
    return this.#router.ask<T>(call);
  }

  items(path: string): Promise<Record<string, string>[]> {
    return this.ask({ method: 'items', path });
  }

  /** Ends what runs in the namespaces, then the namespaces; their ends of the cables go with them. */
  async close(): Promise<void> {
    await Promise.all([...this.#children.map(endProcess), this.#router?.close()]);
    for (const name of [this.routerNamespace, this.lanNamespace]) spawnSync('ip', ['netns', 'delete', name]);
  }

  #build(): void {
    const [router, lan, cable] = [this.routerNamespace, this.lanNamespace, `sb${this.#id}`];
    for (const name of [router, lan]) ip('netns', 'add', name);
    ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'bridge', 'netns', router);
    ip('addr', 'add', `${this.agentAddress}/29`, 'dev', cable);
    ip('addr', 'add', `${this.strangerAddress}/29`, 'dev', cable);
    ip('link', 'set', cable, 'up');
    ip('-n', router, 'link', 'add', 'ether2', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', lan);
    ip('-n', router, 'addr', 'add', `${this.routerAddress}/29`, 'dev', 'bridge');
    ip('-n', router, 'addr', 'add', `${this.lanRouterAddress}/24`, 'dev', 'ether2');
    ip('-n', lan, 'addr', 'add', `${this.lanAddress}/24`, 'dev', 'eth0');
    for (const [name, link] of [
      [router, 'lo'],
      [router, 'bridge'],
      [router, 'ether2'],
      [lan, 'lo'],
      [lan, 'eth0'],
    ] as const)
      ip('-n', name, 'link', 'set', link, 'up');
    ip('-n', lan, 'route', 'add', 'default', 'via', '192.168.88.254');
    ip('netns', 'exec', router, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
  }

  async #startRouter(options: Partial<SimulatorOptions>): Promise<void> {
    const network = { namespace: this.routerNamespace };
    const where = { host: this.routerAddress, managementAddress: this.routerAddress, apiPort: 8728, sshPort: null, network };
    this.#router = await RouterProcess.start(this.routerNamespace, { ...where, ...options });
  }
}

export function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Namespaces of tests that were killed and could not remove them. */
export function removeAbandoned(): void {
  if (!existsSync(NETNS)) return;
  for (const name of readdirSync(NETNS)) {
    const pid = OWN.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) spawnSync('ip', ['netns', 'delete', name]);
  }
}
