import type { Clock } from '../../platform/core/clock.ts';
import type { JobRecord } from './types.ts';

type Listener = (job: JobRecord) => void;

/** Tells whoever is interested in this process that a job's row has changed. Listeners must not throw. */
export class JobChanges {
  readonly #listeners = new Set<Listener>();

  publish(job: JobRecord): void {
    for (const listener of this.#listeners) listener(job);
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

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
