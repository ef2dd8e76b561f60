import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { enrol } from '../../agent/link/enrol.ts';
import { BENCH_LOGIN } from './parts/simulator.ts';
import type { Usage } from './processes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const BUNDLE = path.join(root, 'dist', 'signalbox-agent.cjs');
/** The kernel's unit of CPU time. */
const TICKS_PER_SECOND = 100;

export async function buildAgent(): Promise<void> {
  await promisify(execFile)(process.execPath, [path.join(root, 'scripts/build-agent.ts')]);
}

/** The agent as it runs beside a router: one file, without node_modules and flags. {@link buildAgent} comes first. */
export class BundledAgent {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** @param apiPorts API ports of its routers */
  static async start(options: { folder: string; server: string; enrolToken: string; apiPorts: readonly number[] }): Promise<BundledAgent> {
    const { folder, server, enrolToken, apiPorts } = options;
    const config = path.join(folder, 'agent.yaml');
    await enrol({ server, token: enrolToken, name: 'bench', credentialsFile: path.join(folder, 'credentials.json') });
    const routers = apiPorts.map((port, i) => ({ name: `router-${i}`, host: '127.0.0.1', api: { port, ...BENCH_LOGIN } }));
    await writeFile(config, stringify({ server, credentials: 'credentials.json', state: 'state', routers }));
    return new BundledAgent(spawn(process.execPath, [BUNDLE, 'run', '--config', config], { stdio: 'ignore' }));
  }

  /** Figures of the process from the kernel. */
  async usage(): Promise<Usage> {
    const [status, stat] = await Promise.all(['status', 'stat'].map((file) => readFile(`/proc/${this.#child.pid}/${file}`, 'utf8')));
    // The name, in parentheses, is the only field that may contain spaces; user and system time are the 14th and 15th.
    const fields = stat!.slice(stat!.lastIndexOf(')') + 2).split(' ');
    return {
      residentBytes: Number(/VmRSS:\s+(\d+) kB/.exec(status!)?.[1]) * 1024,
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    };
  }

  stop(): void {
    this.#child.kill('SIGTERM');
  }
}
