import type { Clock, Timer } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
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
  #timer: Timer | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: RetentionDeps) {
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

  /** One sweep, in small steps; never rejects, the next one goes on. */
  async sweep(): Promise<void> {
    const { storage, clock, log, keepMs } = this.#deps;
    const before = clock.now() - keepMs;
    try {
      for (let after: string | undefined = ''; after !== undefined && !this.#stopped; ) {
        const ids: string[] = await selectJobsBefore(storage.db, { before, after, limit: LOOK_AT });
        if (ids.length > 0) await storage.writes.write((tx) => deleteEndedJobs(tx, ids, before));
        after = ids.length < LOOK_AT ? undefined : ids.at(-1);
      }
    } catch (error) {
      log.warn({ err: error }, 'old jobs are kept for now');
    }
  }
}
