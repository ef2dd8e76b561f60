import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** How long a child may take to end after SIGTERM before it is killed, milliseconds. */
const STOP_TIMEOUT_MS = 10_000;

/** Pause before a child is started again, milliseconds. */
const RESTART_AFTER_MS = 1000;

/** A child that exits by itself sooner than this after its start is not started again, milliseconds. */
const SHORTEST_LIFE_MS = 3000;

export interface Program {
  /** Name of its log file. */
  name: string;
  file: string;
  args: string[];
  env?: Record<string, string>;
  /** Restarts it when it exits by itself, as a service manager would. */
  keepRunning?: boolean;
}

interface Child {
  program: Program;
  log: WriteStream;
  process: ChildProcess;
  exited: Promise<void>;
}

/**
 * The programs of the demo as real processes, started as a user would start them. Their output goes to one log
 * file each; they end with this process, even if it is killed.
 */
export class Children {
  readonly #root: string;
  readonly #logFolder: string;
  readonly #running: Child[] = [];
  readonly #restarts = new Set<NodeJS.Timeout>();
  #stopping = false;
  /** Rejects when a child exits by itself and is not restarted. */
  readonly #failure = Promise.withResolvers<never>();

  constructor(root: string, logFolder: string) {
    this.#root = root;
    this.#logFolder = logFolder;
    // Prevents an unhandled rejection while nothing awaits it yet.
    this.#failure.promise.catch(() => {});
  }

  /** Rejects as soon as a child exits unasked. */
  get failure(): Promise<never> {
    return this.#failure.promise;
  }

  /** @returns its process id, if it could be started @throws Error when the demo is stopping */
  start(program: Program): number | undefined {
    if (this.#stopping) throw new Error('the demo is over');
    const log = createWriteStream(path.join(this.#logFolder, `${program.name}.log`));
    const child = this.#run({ program, log });
    this.#running.push(child);
    return child.process.pid;
  }

  /** Stops in reverse order: the agent, the control plane, the routers. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const restart of this.#restarts) clearTimeout(restart);
    for (const child of this.#running.reverse()) {
      child.process.kill('SIGTERM');
      const timer = setTimeout(() => child.process.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await child.exited;
      clearTimeout(timer);
      child.log.end();
    }
  }

  #run({ program, log }: Pick<Child, 'program' | 'log'>): Child {
    const { file, args, env = {} } = program;
    const startedAt = performance.now();
    const spawned = spawn(
      process.execPath,
      ['--import', path.join(this.#root, 'scripts/demo/end-with-parent.mjs'), path.join(this.#root, file), ...args],
      // A group of its own, so that Ctrl-C reaches only this process, which then stops the children in order.
      { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...process.env, ...env }, detached: true },
    );
    spawned.stdout?.pipe(log, { end: false });
    spawned.stderr?.pipe(log, { end: false });
    const exited = new Promise<void>((resolve) => {
      spawned.once('error', () => resolve());
      spawned.once('exit', () => resolve());
    });
    const child: Child = { program, log, process: spawned, exited };
    spawned.once('exit', (code, signal) => {
      const gaveUp = signal === null && performance.now() - startedAt < SHORTEST_LIFE_MS;
      this.#ended(child, signal ?? `code ${code}`, gaveUp);
    });
    return child;
  }

  #ended(child: Child, how: string, gaveUp: boolean): void {
    if (this.#stopping) return;
    const { name, keepRunning } = child.program;
    if (keepRunning !== true || gaveUp) {
      this.#failure.reject(new Error(`${name} ended with ${how}; see ${path.join(this.#logFolder, `${name}.log`)}`));
      return;
    }
    process.stdout.write(`The ${name} exited with ${how}; restarting it.\n`);
    const restart = setTimeout(() => {
      this.#restarts.delete(restart);
      this.#running[this.#running.indexOf(child)] = this.#run(child);
    }, RESTART_AFTER_MS);
    this.#restarts.add(restart);
  }
}
