import type { Clock } from '../../platform/core/clock.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { JobRecord } from './types.ts';

/** Notifies subscribers in this process that a job's row has changed. */
export class JobChanges extends Listeners<JobRecord> {
  /** Resolves at the job's next change, or after `ms`. Call it before you make the change, so that no change is missed. */
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
