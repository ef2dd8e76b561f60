import type { Clock, Timer } from './clock.ts';
import type { Log } from './log.ts';

export interface PeriodicOptions {
  clock: Pick<Clock, 'setTimeout'>;
  log: Pick<Log, 'warn' | 'error'>;
  /** From the end of one run to the beginning of the next, milliseconds. */
  everyMs: number;
  /** What the log says when a run fails; the next run comes all the same. */
  failure: string;
  /** How loud it says so; `warn` unless told otherwise. */
  level?: 'warn' | 'error';
  /** One run. `signal` aborts at the stop: a long run ends after the step under way. */
  run: (signal: AbortSignal) => Promise<unknown> | void;
}

/**
 * Does something again and again until its owner stops it. Two runs are never under way at once, and {@link stop} waits for the one
 * that is: an owner that has stopped touches nothing any more.
 */
export class Periodic {
  readonly #options: PeriodicOptions;
  readonly #stopping = new AbortController();
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;

  constructor(options: PeriodicOptions) {
    this.#options = options;
  }

  /** The first run comes after `everyMs`. Without effect when it was started before, or stopped. */
  start(): void {
    if (this.#timer === undefined && this.#running === undefined) this.#schedule();
  }

  /** No run begins any more. Resolves when the one under way has ended; never rejects. */
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

  /** Never throws, never rejects. @returns undefined for a run that is over already */
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
