import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SimulatorOptions } from '../../simulator/index.ts';
import type { FleetRecord, FleetRequest, RouterPorts } from './fleet-messages.ts';

const PROGRAM = fileURLToPath(new URL('programs/fleet.ts', import.meta.url));
const ANSWER_WITHIN_MS = 30_000;

export const FLEET_LOGIN = { username: 'signalbox', password: 'router-password' };
/** Speed-up of the routers' time: a minute on a router takes seconds. */
export const FLEET_SPEED = 10;

/** Every way to run a script, by version and service. */
export const ROUTERS: readonly Partial<SimulatorOptions>[] = [
  { version: '7.18.2' },
  { version: '7.18.2', sshPort: null },
  { version: '6.49.10' },
  { version: '7.18.2', apiPort: null },
  { version: '7.6', sshPort: null },
  { version: '6.49.10', apiPort: null },
];

/** The routers, in a process that no fault kills. */
export class Fleet {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  ports: RouterPorts[] = [];
  /** How it ended, unless it was stopped. */
  unaskedEnd: string | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: { id: number; result?: unknown; error?: string }) => {
      const call = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.error === undefined) call?.resolve(message.result);
      else call?.reject(new Error(`fleet: ${message.error}`));
    });
    child.on('exit', (code, signal) => {
      if (!child.killed) this.unaskedEnd = `code ${code}, signal ${signal}`;
      for (const call of this.#pending.values()) call.reject(new Error('the fleet has ended'));
    });
  }

  static async start(): Promise<Fleet> {
    const fleet = new Fleet(
      fork(PROGRAM, [], { execArgv: ['--disable-warning=ExperimentalWarning'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
    );
    fleet.ports = (await fleet.ask({ method: 'start' })) as RouterPorts[];
    return fleet;
  }

  async record(): Promise<FleetRecord> {
    return (await this.ask({ method: 'record' })) as FleetRecord;
  }

  async ask(request: FleetRequest): Promise<unknown> {
    const id = (this.#lastId += 1);
    const call = Promise.withResolvers<unknown>();
    this.#pending.set(id, call);
    const timer = setTimeout(() => call.reject(new Error(`the fleet does not answer ${request.method}`)), ANSWER_WITHIN_MS);
    this.#child.send({ id, request });
    try {
      return await call.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
