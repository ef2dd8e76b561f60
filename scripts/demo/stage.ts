import { execFile } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { Children } from './children.ts';

const run = promisify(execFile);

export interface StageOptions {
  /** Of the checkout. */
  root: string;
  /** Where logs and all files go. */
  folder: string;
  /** Environment of the control plane, and of the commands that administer it. */
  env: Record<string, string>;
  /** Longest wait for each step of the start, milliseconds. */
  startTimeoutMs: number;
}

/** Programs of a demonstration, from their start until Ctrl-C. */
export class Stage {
  readonly root: string;
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly children: Children;
  readonly #startTimeoutMs: number;
  readonly #stop = Promise.withResolvers<void>();

  constructor({ root, folder, env, startTimeoutMs }: StageOptions) {
    this.#startTimeoutMs = startTimeoutMs;
    this.root = root;
    this.folder = folder;
    this.env = env;
    this.children = new Children(root, folder);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#stop.resolve());
  }

  get stopRequested(): Promise<void> {
    return this.#stop.promise;
  }

  /** Until somebody stops it or a program that must run has ended; then everything is stopped. @param name for messages */
  async perform(name: string, start: () => Promise<void>, close: () => Promise<void>): Promise<void> {
    try {
      await Promise.race([start(), this.stopRequested, this.children.failure]);
      await Promise.race([this.stopRequested, this.children.failure]);
    } catch (error) {
      process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    } finally {
      await this.children.stop();
      await close();
    }
  }

  /** Runs a program of the project to its end. @returns what it printed */
  async node(file: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    const { stdout } = await run(process.execPath, [path.join(this.root, file), ...args], {
      env: { ...process.env, ...env },
      timeout: this.#startTimeoutMs,
    });
    return stdout;
  }

  /** Administers the control plane on its machine. */
  async signalbox(...args: string[]): Promise<Record<string, unknown>> {
    return JSON.parse(await this.node('server/main.ts', [...args, '--json'], this.env)) as Record<string, unknown>;
  }

  /** Polls until the answer is neither false nor undefined, a child dies, or the deadline passes. @param everyMs between two questions */
  async until<T>(what: string, ask: () => Promise<T | undefined | false>, everyMs = 100): Promise<T> {
    const deadline = Date.now() + this.#startTimeoutMs;
    while (Date.now() < deadline) {
      const answer = await ask().catch(() => undefined);
      if (answer !== undefined && answer !== false) return answer;
      const pause = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), everyMs));
      const isStopped = await Promise.race([this.children.failure, this.stopRequested.then(() => true), pause]);
      if (isStopped) throw new Error('stopped during the start');
    }
    throw new Error(`timed out after ${this.#startTimeoutMs / 1000} s: ${what}; see the logs in ${this.folder}/`);
  }
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** @throws Error when the command line's answer lacks it */
export function text(object: Record<string, unknown>, field: string): string {
  const value = object[field];
  if (typeof value !== 'string') throw new Error(`signalbox answered no ${field}`);
  return value;
}
