import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freePort } from './installation.ts';
import { waitUntil } from './wait-until.ts';

const PROGRAM = '/usr/sbin/nats-server';

/** Debian's nats-server is installed. */
export function hasNats(): boolean {
  return existsSync(PROGRAM);
}

/** A nats-server of its own on loopback, which can be killed, frozen and started again on its port. It dies with the test. */
export class NatsServer {
  readonly port: number;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
  }

  /** With JetStream. @param settings further lines of its configuration; `jetstream: false` for one without */
  static async start(settings: readonly string[] = []): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), await mkdtemp(path.join(os.tmpdir(), 'signalbox-nats-')));
    const keepsMessages = settings.some((line) => line.startsWith('jetstream'))
      ? []
      : [`jetstream { store_dir: ${path.join(server.#folder, 'jetstream')} }`];
    const lines = ['host: 127.0.0.1', `port: ${server.port}`, ...keepsMessages, ...settings];
    await writeFile(path.join(server.#folder, 'nats.conf'), `${lines.join('\n')}\n`);
    await server.resume();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Starts it again after {@link kill}. */
  async resume(): Promise<void> {
    const words = ['--pdeathsig', 'KILL', PROGRAM, '-c', path.join(this.#folder, 'nats.conf')];
    this.#child = spawn('setpriv', words, { stdio: 'ignore' });
    await waitUntil('nats-server accepts connections', () => accepts(this.port));
  }

  /** SIGKILL: its connections break, and it forgets everything. */
  async kill(): Promise<void> {
    await this.#end();
  }

  /** SIGSTOP: its connections stay open and carry nothing. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  unfreeze(): void {
    this.#child?.kill('SIGCONT');
  }

  async close(): Promise<void> {
    await this.#end();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
