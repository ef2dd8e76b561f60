import { readFile } from 'node:fs/promises';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { Program } from '../../../test/harness/program.ts';
import type { Usage } from '../processes.ts';

/** The kernel's unit of CPU time. */
const TICKS_PER_SECOND = 100;
const START_WITHIN_MS = 60_000;

/** `signalbox serve` as a process of its own, which is ended and started again on the same port. */
export class Served {
  readonly url: string;
  readonly #program: Program;

  private constructor(url: string, program: Program) {
    this.url = url;
    this.#program = program;
  }

  /** @param env further settings, which take the place of those here */
  static async start({
    folder,
    databaseUrl,
    env = {},
  }: {
    folder: string;
    databaseUrl: string;
    env?: Record<string, string>;
  }): Promise<Served> {
    const port = Number(env['SIGNALBOX_LISTEN']?.split(':')[1] ?? (await freePort()));
    const program = new Program('server/main.ts', ['serve'], {
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: databaseUrl,
      SIGNALBOX_SECRET_KEY_FILE: `${folder}/secret.key`,
      SIGNALBOX_RATE_LIMIT_PER_MINUTE: '10000000',
      SIGNALBOX_ALLOW_PRIVATE_SOURCES: 'on',
      SIGNALBOX_FORWARD_PORTS: '30000-39999',
      SIGNALBOX_LOG_LEVEL: 'error',
      // As the service unit and the image have it.
      NODE_OPTIONS: '--max-semi-space-size=16',
      ...env,
    });
    const served = new Served(`http://127.0.0.1:${port}`, program);
    await served.again();
    return served;
  }

  /** Starts it, and waits until it answers. @throws Error when it does not */
  async again(): Promise<void> {
    this.#program.start();
    const giveUpAt = performance.now() + START_WITHIN_MS;
    for (;;) {
      const isUp = await fetch(`${this.url}/readyz`).then(
        (answer) => answer.ok,
        () => false,
      );
      if (isUp) return;
      if (!this.#program.isRunning || performance.now() > giveUpAt) throw new Error(`serve does not answer:\n${this.#program.output}`);
      await pause(100);
    }
  }

  /** SIGTERM. @returns how long it took, milliseconds; Infinity when it did not end well, which it said on its way out */
  async end(patienceMs?: number): Promise<number> {
    const begun = performance.now();
    const code = await this.#program.stop(patienceMs);
    if (code === 0) return performance.now() - begun;
    process.stderr.write(`serve ended with ${code}:\n${this.#program.output}\n`);
    return Number.POSITIVE_INFINITY;
  }

  async kill(): Promise<void> {
    await this.#program.kill();
  }

  /** SIGSTOP and SIGCONT. */
  signal(signal: NodeJS.Signals): void {
    this.#program.signal(signal);
  }

  /** Figures of the process from the kernel. */
  async usage(): Promise<Usage> {
    const { pid } = this.#program;
    const [status, stat] = await Promise.all(['status', 'stat'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')));
    // The name, in parentheses, is the only field that may contain spaces; user and system time are the 14th and 15th.
    const fields = stat!.slice(stat!.lastIndexOf(')') + 2).split(' ');
    return {
      residentBytes: Number(/VmRSS:\s+(\d+) kB/.exec(status!)?.[1]) * 1024,
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    };
  }
}

/** So that it has the same port after its restart. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
