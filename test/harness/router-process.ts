import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { SimulatorOptions } from '../simulator/index.ts';
import type { LabCall } from './namespaced-simulator.ts';

const SIMULATOR = fileURLToPath(new URL('namespaced-simulator.ts', import.meta.url));
const CALL_TIMEOUT_MS = 60_000;

/** A simulated router in a process of its own inside a network namespace. */
export class RouterProcess {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #lastCall = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', ({ id, result, error }: { id: number; result?: unknown; error?: string }) => {
      const waiting = this.#pending.get(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error));
    });
    child.on('exit', (code) => {
      for (const waiting of this.#pending.values()) waiting.reject(new Error(`the simulated router ended with ${code}`));
    });
  }

  static async start(namespace: string, options: Partial<SimulatorOptions>): Promise<RouterProcess> {
    const words = ['netns', 'exec', namespace, process.execPath, SIMULATOR];
    const router = new RouterProcess(spawn('ip', words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
    try {
      await router.ask({ method: 'start', options });
      return router;
    } catch (error) {
      await router.close();
      throw error;
    }
  }

  async ask<T>(call: LabCall): Promise<T> {
    const id = (this.#lastCall += 1);
    const waiting = Promise.withResolvers<unknown>();
    this.#pending.set(id, waiting);
    const timer = setTimeout(() => waiting.reject(new Error(`the simulated router did not answer ${call.method}`)), CALL_TIMEOUT_MS);
    this.#child.send({ id, call });
    try {
      return (await waiting.promise) as T;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  items(path: string): Promise<Record<string, string>[]> {
    return this.ask({ method: 'items', path });
  }

  close(): Promise<void> {
    return endProcess(this.#child);
  }
}

/** SIGKILL: nothing in a namespace may keep it. */
export function endProcess(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
