import type { Clock, Timer } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { JobChanges } from './changes.ts';
import { expireJobs, giveUpOverdue } from './hand-over/store.ts';
import type { JobRecord } from './types.ts';

/** Expiry and overdue times are promised in minutes. */
const SWEEP_EVERY_MS = 10_000;
/** Rows of one statement: it holds the database for a few milliseconds. */
const SWEEP_AT_ONCE = 500;

/** Ends what waited too long: queued jobs expire, jobs whose agent is silent become unknown. */
export class JobSweeper {
  readonly #deps: { storage: Storage; clock: Clock; log: Log; changes: JobChanges };
  #timer: Timer | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: { storage: Storage; clock: Clock; log: Log; changes: JobChanges }) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = this.#deps.clock.setTimeout(() => {
      this.#sweeping = this.sweep().then(() => {
        if (!this.#stopped) this.start();
      });
    }, SWEEP_EVERY_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#sweeping;
  }

  /** One sweep; never rejects, the next one tries again. */
  async sweep(): Promise<void> {
    try {
      await this.#drain((now) => this.#deps.storage.writes.write((tx) => expireJobs(tx, now, SWEEP_AT_ONCE)));
      await this.#drain((now) => this.#deps.storage.writes.write((tx) => giveUpOverdue(tx, now, SWEEP_AT_ONCE)));
    } catch (error) {
      this.#deps.log.error({ err: error }, 'overdue jobs could not be settled');
    }
  }

  async #drain(step: (now: number) => Promise<JobRecord[]>): Promise<void> {
    const now = this.#deps.clock.now();
    for (let count = SWEEP_AT_ONCE; count === SWEEP_AT_ONCE && !this.#stopped; ) {
      const jobs = await step(now);
      for (const job of jobs) this.#deps.changes.publish(job);
      count = jobs.length;
    }
  }
}
