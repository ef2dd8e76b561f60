import type { Clock, Timer } from './clock.ts';
import type { Log } from './log.ts';

export interface PeriodicOptions {
  clock: Pick<Clock, 'setTimeout'>;
  log: Pick<Log, 'warn' | 'error'>;
  /** From the end of one run to the beginning of the next, milliseconds. */
  everyMs: number;
  /** The log message when a run fails; the next run follows as usual. */
  failure: string;
  /** The log level of that message; `warn` by default. */
  level?: 'warn' | 'error';
  /** One run. `signal` aborts at the stop, so that a long run ends after its current step. */
  run: (signal: AbortSignal) => Promise<unknown> | void;
}

/**
 * Runs a task periodically until its owner stops it. Runs never overlap, and {@link stop} waits for the current one, so that
 * nothing runs after the stop.
 */
export class Periodic {
  readonly #options: PeriodicOptions;
  readonly #stopping = new AbortController();
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;

  constructor(options: PeriodicOptions) {
    this.#options = options;
  }

  /** The first run starts after `everyMs`. Without effect when it was already started or stopped. */
  start(): void {
    if (this.#timer === undefined && this.#running === undefined) this.#schedule();
  }

  /** Starts no further run. Resolves when the current one has ended; never rejects. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#timer?.cancel();
    await this.#running;
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #schedule(): void {
    this.#running = undefined;
    if (this.isStopped) return;
    this.#timer = this.#options.clock.setTimeout(() => this.#run(), this.#options.everyMs);
  }

  #run(): void {
    const running = this.#begin();
    if (running) this.#running = running.then(() => this.#schedule());
    else this.#schedule();
  }

  /** Never throws, never rejects. @returns undefined for a run that has already ended */
  #begin(): Promise<void> | undefined {
    try {
      const run = this.#options.run(this.#stopping.signal);
      return run
        ? run.then(
            () => undefined,
            (error: unknown) => this.#failed(error),
          )
        : undefined;
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  #failed(error: unknown): void {
    const { log, level = 'warn', failure } = this.#options;
    log[level]({ err: error }, failure);
  }
}
