import type { Clock } from '../../platform/core/clock.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { JobRecord } from './types.ts';

/** Tells whoever is interested in this process that a job's row has changed. */
export class JobChanges extends Listeners<JobRecord> {
  /** Resolves at the job's next change, or after `ms`. Subscribe before doing what causes the change. */
  next(jobId: string, clock: Clock, ms: number): { changed: Promise<void>; stop: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = clock.setTimeout(resolve, ms);
    const unsubscribe = this.subscribe((job) => {
      if (job.id === jobId) resolve();
    });
    const stop = (): void => {
      timer.cancel();
      unsubscribe();
    };
    return { changed: promise, stop };
  }
}
