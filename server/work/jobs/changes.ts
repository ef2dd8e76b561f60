import type { Clock } from '../../platform/core/clock.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { JobRecord } from './types.ts';

/** Notifies subscribers in this process that it has changed a job's row. */
export class JobChanges extends Listeners<JobRecord> {
  /** Ids of jobs whose rows another control plane has changed. Some changes are not heard of. */
  readonly elsewhere = new Listeners<string>();

  /** Resolves at the job's next change, or after `ms`. Call it before you make the change, so that no change is missed. */
  next(jobId: string, clock: Clock, ms: number): { changed: Promise<void>; stop: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = clock.setTimeout(resolve, ms);
    const hear = (id: string): void => {
      if (id === jobId) resolve();
    };
    const unsubscribe = [this.subscribe(({ id }) => hear(id)), this.elsewhere.subscribe(hear)];
    const stop = (): void => {
      timer.cancel();
      for (const end of unsubscribe) end();
    };
    return { changed: promise, stop };
  }
}
