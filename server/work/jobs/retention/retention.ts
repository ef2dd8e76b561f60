import type { Clock } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { deleteEndedJobs, selectJobsBefore } from './store.ts';

/** Retention is counted in days; an hour keeps each sweep small. */
const SWEEP_EVERY_MS = 3600_000;
/** Jobs checked in one transaction, each with a handful of events: it holds the database for a few milliseconds. */
const CHUNK = 100;

export interface RetentionDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  /** How long a finished job is kept, milliseconds. */
  keepMs: number;
}

/** Deletes jobs that ended longer ago than the retention time. */
export class JobRetention {
  readonly #deps: RetentionDeps;
  readonly #sweeps: Periodic;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: SWEEP_EVERY_MS,
      failure: 'the sweep of old jobs failed; the next one tries again',
      run: () => this.sweep(),
    });
  }

  start(): void {
    this.#sweeps.start();
  }

  async stop(): Promise<void> {
    await this.#sweeps.stop();
  }

  /** One sweep, in small steps. @throws a storage error; the next sweep continues */
  async sweep(): Promise<void> {
    const { storage, clock, keepMs } = this.#deps;
    const before = clock.now() - keepMs;
    for (let after: string | undefined = ''; after !== undefined && !this.#sweeps.isStopped;) {
      const ids: string[] = await selectJobsBefore(storage.db, { before, after, limit: CHUNK });
      if (ids.length > 0) await storage.writes.write((tx) => deleteEndedJobs(tx, ids, before));
      after = ids.length < CHUNK ? undefined : ids.at(-1);
    }
  }
}
