import type { Clock } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { deleteEndedJobs, selectJobsBefore } from './store.ts';

/** A day more or less matters to nobody; an hour keeps what is due at once small. */
const SWEEP_EVERY_MS = 3600_000;
/** Jobs looked at in one transaction, each with a handful of events: it holds the database for some milliseconds. */
const LOOK_AT = 100;

export interface RetentionDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  /** How long a finished job is kept, milliseconds. */
  keepMs: number;
}

/** Forgets jobs that ended long ago. */
export class JobRetention {
  readonly #deps: RetentionDeps;
  readonly #sweeps: Periodic;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: SWEEP_EVERY_MS,
      failure: 'old jobs are kept for now',
      run: () => this.sweep(),
    });
  }

  start(): void {
    this.#sweeps.start();
  }

  async stop(): Promise<void> {
    await this.#sweeps.stop();
  }

  /** One sweep, in small steps. @throws a storage error; the next one goes on */
  async sweep(): Promise<void> {
    const { storage, clock, keepMs } = this.#deps;
    const before = clock.now() - keepMs;
    for (let after: string | undefined = ''; after !== undefined && !this.#sweeps.isStopped;) {
      const ids: string[] = await selectJobsBefore(storage.db, { before, after, limit: LOOK_AT });
      if (ids.length > 0) await storage.writes.write((tx) => deleteEndedJobs(tx, ids, before));
      after = ids.length < LOOK_AT ? undefined : ids.at(-1);
    }
  }
}
