import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
/** Starting the whole control plane takes about a second on a busy machine. */
const CALL_TIMEOUT_MS = 60_000;

export interface Usage {
  cpuSeconds: number;
  residentBytes: number;
}

/** A running process and the details it reported. */
export interface Started<T> {
  process: BenchProcess;
  result: T;
}

interface PendingCall {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** Something whose CPU time is counted. */
export interface Metered {
  usage(): Promise<Usage>;
}

/** A part of a benchmark in a process of its own. */
export class BenchProcess implements Metered {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;

  private constructor(child: ChildProcess, name: string) {
    this.#child = child;
    child.on('message', (message: { id: number; result?: unknown; error?: string }) => {
      const call = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.error === undefined) call?.resolve(message.result);
      else call?.reject(new Error(`${name}: ${message.error}`));
    });
    child.on('exit', (code) => {
      for (const call of this.#pending.values()) call.reject(new Error(`${name} ended with ${code}`));
      this.#pending.clear();
    });
  }

  /** Starts a part and waits until it is ready; its result says where it listens. */
  static async start<T>(part: string, options: unknown): Promise<Started<T>> {
    const child = fork(CHILD, [], { execArgv: ['--disable-warning=ExperimentalWarning'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const started = new BenchProcess(child, part);
    try {
      return { process: started, result: await started.#call<T>({ method: 'start', part, options }) };
    } catch (error) {
      await started.stop();
      throw error;
    }
  }

  usage(): Promise<Usage> {
    return this.#call<Usage>({ method: 'cpu' });
  }

  /** Of a part that answers questions (child.ts). */
  ask<T>(question: unknown): Promise<T> {
    return this.#call<T>({ method: 'ask', question });
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        resolve();
        return;
      }
      this.#child.once('exit', () => resolve());
      this.#child.kill('SIGKILL');
    });
  }

  async #call<T>(call: object): Promise<T> {
    const id = (this.#lastId += 1);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(() => reject(new Error('a process of the benchmark does not answer')), CALL_TIMEOUT_MS);
    this.#pending.set(id, { resolve, reject });
    this.#child.send({ id, ...call });
    try {
      return (await promise) as T;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** CPU seconds of several processes together. */
export async function totalCpu(processes: readonly Metered[]): Promise<number> {
  const usages = await Promise.all(processes.map((process) => process.usage()));
  return usages.reduce((sum, usage) => sum + usage.cpuSeconds, 0);
}
