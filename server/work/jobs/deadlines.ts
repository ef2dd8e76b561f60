import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { Members } from '../../platform/nodes/members.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { JobChanges } from './changes.ts';
import { expireJobs, giveUpOverdue } from './hand-over/store.ts';
import type { JobRecord } from './types.ts';

/** Expiry and grace times are given in minutes. */
const SWEEP_EVERY_MS = 10_000;
/** Rows in one transaction: with its commit it holds the event loop for some 7 ms on SQLite. A campaign expires in thousands. */
const SWEEP_AT_ONCE = 100;

/** Names the sweep where one of several control planes does it. */
const SWEEP = 'job deadlines';

export interface JobDeadlinesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  changes: JobChanges;
  cluster?: { members: Pick<Members, 'isOwn'> } | undefined;
}

/** Ends jobs that have waited too long: queued jobs expire, jobs whose agent is silent become unknown. */
export class JobDeadlines {
  readonly #deps: JobDeadlinesDeps;
  readonly #sweeps: Periodic;

  constructor(deps: JobDeadlinesDeps) {
    this.#deps = deps;
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: SWEEP_EVERY_MS,
      failure: 'the sweep of expired and overdue jobs failed; the next one tries again',
      level: 'error',
      // Another one of several control planes may do it at the same time: each job ends once.
      run: async () => {
        if (deps.cluster?.members.isOwn(SWEEP) !== false) await this.sweep();
      },
    });
  }

  start(): void {
    this.#sweeps.start();
  }

  async stop(): Promise<void> {
    await this.#sweeps.stop();
  }

  /** One sweep. @throws a storage error; the next sweep tries again */
  async sweep(): Promise<void> {
    await this.#drain((now) => this.#deps.storage.writes.write((tx) => expireJobs(tx, now, SWEEP_AT_ONCE)));
    await this.#drain((now) => this.#deps.storage.writes.write((tx) => giveUpOverdue(tx, now, SWEEP_AT_ONCE)));
  }

  async #drain(step: (now: number) => Promise<JobRecord[]>): Promise<void> {
    const now = this.#deps.clock.now();
    for (let count = SWEEP_AT_ONCE; count === SWEEP_AT_ONCE && !this.#sweeps.isStopped;) {
      const jobs = await step(now);
      for (const job of jobs) this.#deps.changes.publish(job);
      count = jobs.length;
    }
  }
}
