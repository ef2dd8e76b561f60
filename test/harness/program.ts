import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** Only a program that hangs meets this: the control plane alone may take 10 s, and more when others use the processors. */
const STOP_PATIENCE_MS = 60_000;

/** An end that the test did not ask for. */
export interface UnaskedEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  lastWords: string;
}

/** One of the product's programs as a real process, to be killed without warning and started again. */
export class Program {
  readonly #file: string;
  readonly #args: string[];
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  #output = '';
  #printed = 0;
  #lines = 0;
  /** The signals that were sent. */
  readonly #asked = new WeakMap<ChildProcess, NodeJS.Signals>();
  /** Every exit that was not requested. */
  readonly unaskedEnds: UnaskedEnd[] = [];

  /** @param file relative to the project: `server/main.ts` */
  constructor(file: string, args: string[], env: Record<string, string> = {}) {
    this.#file = file;
    this.#args = args;
    this.#env = env;
  }

  /** Its output, for the message of a failed test. */
  get output(): string {
    return this.#output;
  }

  /** Bytes of all it printed. */
  get printed(): number {
    return this.#printed;
  }

  /** How many lines it has printed. */
  get lineCount(): number {
    return this.#lines;
  }

  /** @throws Error when it does not run */
  get pid(): number {
    const { pid, exitCode = 1, signalCode = null } = this.#child ?? {};
    if (pid === undefined || exitCode !== null || signalCode !== null) throw new Error(`it does not run:\n${this.#output}`);
    return pid;
  }

  get isRunning(): boolean {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** SIGSTOP and SIGCONT. */
  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child?.kill(signal);
  }

  /** To it and to what it has started, as a terminal does at Ctrl-C. */
  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal);
  }

  /** @param group true: a process group of its own, as a shell creates one: for {@link signalGroup} */
  start({ group = false } = {}): void {
    const child = spawn(process.execPath, [path.join(root, this.#file), ...this.#args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], ...this.#env },
      detached: group,
    });
    const keep = (chunk: Buffer): void => {
      const text = chunk.toString();
      this.#lines += text.split('\n').length - 1;
      this.#output = (this.#output + text).slice(-20_000);
      this.#printed += chunk.length;
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    // Not `exit`: then its last words may still be under way.
    child.once('close', (code, signal) => {
      const asked = this.#asked.get(child);
      // SIGKILL leaves no exit code: with one it had ended just before.
      const isAsked = asked === 'SIGKILL' ? signal === asked : asked !== undefined;
      if (!isAsked) this.unaskedEnds.push({ code, signal, lastWords: this.#output.slice(-2000) });
    });
    this.#child = child;
  }

  /** SIGHUP from a terminal that is gone: what the process prints fails. */
  hangUp(): void {
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
    this.signal('SIGHUP');
  }

  /** SIGKILL: the process gets no chance to do anything. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** SIGINT, as Ctrl-C sends it, then SIGKILL after a minute. @returns its exit code */
  async interrupt(): Promise<number | null> {
    const timer = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_PATIENCE_MS);
    const code = await this.#end('SIGINT');
    clearTimeout(timer);
    return code;
  }

  /** SIGTERM, then SIGKILL after a minute, or as long as it says. @returns its exit code */
  async stop(patienceMs = STOP_PATIENCE_MS): Promise<number | null> {
    const timer = setTimeout(() => this.#child?.kill('SIGKILL'), patienceMs);
    const code = await this.#end('SIGTERM');
    clearTimeout(timer);
    return code;
  }

  /** @returns its exit code, once it has ended by itself */
  async ended(): Promise<number | null> {
    const child = this.#child;
    if (!child || !this.isRunning) return child?.exitCode ?? null;
    return new Promise((resolve) => {
      child.once('exit', resolve);
    });
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (!child || !this.isRunning) return child?.exitCode ?? null;
    const exited = new Promise<number | null>((resolve) => {
      child.once('exit', resolve);
    });
    this.#asked.set(child, signal);
    child.kill(signal);
    return exited;
  }
}
