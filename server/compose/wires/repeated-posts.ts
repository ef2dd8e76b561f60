import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import { IdempotencyStore } from '../../platform/idempotency/store.ts';

/** Beside other control planes: a caller who repeats a request waits a little longer than that between two attempts. */
const STORE_EVERY_MS = 5000;
/** As often as answers are deleted. */
const SUM_EVERY_MS = 3600_000;

type Needs = Pick<Platform, 'storage' | 'secrets' | 'now' | 'counters' | 'cluster' | 'clock' | 'log'>;

/** The answers of POSTs with an `Idempotency-Key`. */
export const repeatedPosts = feature({
  create: ({ storage, secrets, now, counters, cluster, clock, log }: Needs) => {
    const idempotency = new IdempotencyStore(storage, secrets, now, { counters, nodeId: cluster?.nodeId ?? null });
    const periodic = (everyMs: number, run: () => Promise<void>, failure: string): Periodic =>
      new Periodic({ clock, log: log.child({ component: 'http' }), everyMs, run, failure });
    const idempotencyTasks = cluster
      ? [
          periodic(STORE_EVERY_MS, () => idempotency.storeUnstored(), 'results of requests with an Idempotency-Key could not be stored'),
          periodic(SUM_EVERY_MS, () => idempotency.sumUp(), 'kept answers could not be counted'),
        ]
      : [];
    return { idempotency, idempotencyTasks };
  },
  start: async (own) => {
    await own.idempotency.markInterrupted();
    for (const task of own.idempotencyTasks) task.start();
  },
  stop: async (own) => {
    await Promise.all(own.idempotencyTasks.map((task) => task.stop()));
  },
  sweep: (own) => own.idempotency.sweep(),
});
