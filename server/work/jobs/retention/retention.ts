import type { Clock } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { removeInBatches } from '../../../platform/core/removal-batches.ts';
import { deleteEndedJobs, selectJobsBefore } from './store.ts';

/** Retention is counted in days; an hour keeps each sweep small. */
const SWEEP_EVERY_MS = 3600_000;

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
      run: (signal) => this.sweep(signal),
    });
  }

  start(): void {
    this.#sweeps.start();
  }

  async stop(): Promise<void> {
    await this.#sweeps.stop();
  }

  /** One sweep, in small batches. @throws a storage error; the next sweep continues */
  async sweep(signal?: AbortSignal): Promise<void> {
    const { storage, clock, keepMs } = this.#deps;
    const before = clock.now() - keepMs;
    let after = '';
    await removeInBatches(
      storage,
      async (tx, limit) => {
        const ids = await selectJobsBefore(tx, { before, after, limit });
        if (ids.length > 0) await deleteEndedJobs(tx, ids, before);
        after = ids.at(-1) ?? after;
        return ids.length;
      },
      { signal },
    );
  }
}
