import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** How long a child may take to end after SIGTERM before it is killed, milliseconds. */
const STOP_TIMEOUT_MS = 10_000;

interface Child {
  name: string;
  process: ChildProcess;
  log: WriteStream;
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
  #stopping = false;
  /** Rejects when a child ends by itself. */
  readonly #failure = Promise.withResolvers<never>();

  constructor(root: string, logFolder: string) {
    this.#root = root;
    this.#logFolder = logFolder;
    // Awaited by whoever waits for something; nobody may be waiting yet.
    this.#failure.promise.catch(() => {});
  }

  /** Rejects as soon as any child ends that was not asked to. */
  get failure(): Promise<never> {
    return this.#failure.promise;
  }

  start(name: string, file: string, args: string[], env: Record<string, string> = {}): void {
    const logFile = path.join(this.#logFolder, `${name}.log`);
    const log = createWriteStream(logFile);
    const child = spawn(
      process.execPath,
      ['--import', path.join(this.#root, 'scripts/demo/end-with-parent.mjs'), path.join(this.#root, file), ...args],
      // A group of its own, so that Ctrl-C reaches only this process, which then stops the children in order.
      { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...process.env, ...env }, detached: true },
    );
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    const exited = new Promise<void>((resolve) => {
      child.once('error', () => resolve());
      child.once('exit', (code) => {
        resolve();
        if (!this.#stopping) this.#failure.reject(new Error(`${name} ended with code ${code}; see ${logFile}`));
      });
    });
    this.#running.push({ name, process: child, log, exited });
  }

  /** Ends the youngest first: the agent before the control plane before the routers. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const child of this.#running.reverse()) {
      child.process.kill('SIGTERM');
      const timer = setTimeout(() => child.process.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await child.exited;
      clearTimeout(timer);
      child.log.end();
    }
  }
}
