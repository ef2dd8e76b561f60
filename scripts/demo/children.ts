import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** How long a child may take to end after it was asked to before it is killed, milliseconds. */
const STOP_TIMEOUT_MS = 10_000;

/** Pause before a child is started again, milliseconds. */
const RESTART_AFTER_MS = 1000;

/** A child that exits by itself sooner than this after its start is not started again, milliseconds. */
const SHORTEST_LIFE_MS = 3000;

/** A file of the project, or a program of the system. */
export type Program = ProgramSettings & ({ file: string; args: string[] } | { command: readonly string[] });

interface ProgramSettings {
  /** Name of its log file. */
  name: string;
  env?: Record<string, string>;
  /**
   * What follows when it ends by itself: the end of the demonstration, unless said otherwise. `restart`: it is started again, as a service
   * manager would. `stay`: so, too, after a failure; but one that somebody has ended stays so until {@link Children.revive}.
   */
  ifItEnds?: 'restart' | 'stay';
  /** Neighbours in one group are stopped together. */
  group?: string;
  /** Asks it to end. */
  stopSignal?: NodeJS.Signals;
  /** Called at each start, with its process id. */
  onStarted?: (pid: number | undefined) => void;
}

interface Child {
  program: Program;
  log: WriteStream;
  process: ChildProcess;
  exited: Promise<void>;
}

/** How a child ended. */
interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Too soon after its start for another one to help. */
  atOnce: boolean;
}

/**
 * The programs of a demonstration as real processes, started as a user would start them. Their output goes to one log
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

  /** Starts a program again that has ended and stayed so. Without effect while it runs or when the demonstration stops. */
  revive(name: string): void {
    const index = this.#running.findIndex(({ program }) => program.name === name);
    const child = this.#running[index];
    if (this.#stopping || child === undefined || isRunning(child)) return;
    this.#running[index] = this.#run(child);
  }

  /** Stops in reverse order: the agents, the control planes, the routers. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const restart of this.#restarts) clearTimeout(restart);
    for (let last = this.#running.pop(); last !== undefined; last = this.#running.pop()) {
      const together = [last];
      while (last.program.group !== undefined && this.#running.at(-1)?.program.group === last.program.group)
        together.push(this.#running.pop()!);
      await Promise.all(together.map((child) => end(child)));
    }
  }

  #run({ program, log }: Pick<Child, 'program' | 'log'>): Child {
    const startedAt = performance.now();
    const spawned = this.#spawn(program);
    spawned.stdout?.pipe(log, { end: false });
    spawned.stderr?.pipe(log, { end: false });
    const exited = new Promise<void>((resolve) => {
      spawned.once('error', () => resolve());
      spawned.once('exit', () => resolve());
    });
    const child: Child = { program, log, process: spawned, exited };
    spawned.once('exit', (code, signal) => {
      this.#ended(child, { code, signal, atOnce: signal === null && performance.now() - startedAt < SHORTEST_LIFE_MS });
    });
    program.onStarted?.(spawned.pid);
    return child;
  }

  #spawn(program: Program): ChildProcess {
    const env = { ...process.env, ...program.env };
    if ('command' in program) {
      // No channel tells a program of the system that this process has died: the kernel does.
      const words = ['--pdeathsig', program.stopSignal ?? 'SIGTERM', ...program.command];
      return spawn('setpriv', words, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd: this.#logFolder, detached: true });
    }
    return spawn(
      process.execPath,
      ['--import', path.join(this.#root, 'scripts/demo/end-with-parent.mjs'), path.join(this.#root, program.file), ...program.args],
      // A group of its own, so that Ctrl-C reaches only this process, which then stops the children in order.
      { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env, detached: true },
    );
  }

  #ended(child: Child, how: End): void {
    if (this.#stopping) return;
    const { name, ifItEnds } = child.program;
    const words = how.signal ?? `code ${how.code}`;
    const isWanted = how.signal !== null || how.code === 0;
    if (ifItEnds === 'stay' && (isWanted || how.atOnce)) {
      process.stdout.write(`${name} ended with ${words}, and stays so.\n`);
      return;
    }
    if (ifItEnds === undefined || how.atOnce) {
      this.#failure.reject(new Error(`${name} ended with ${words}; see ${path.join(this.#logFolder, `${name}.log`)}`));
      return;
    }
    process.stdout.write(`The ${name} exited with ${words}; restarting it.\n`);
    const restart = setTimeout(() => {
      this.#restarts.delete(restart);
      this.revive(name);
    }, RESTART_AFTER_MS);
    this.#restarts.add(restart);
  }
}

function isRunning({ process: { exitCode, signalCode } }: Child): boolean {
  return exitCode === null && signalCode === null;
}

async function end({ program, process: running, exited, log }: Child): Promise<void> {
  running.kill(program.stopSignal ?? 'SIGTERM');
  const timer = setTimeout(() => running.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
  log.end();
}
