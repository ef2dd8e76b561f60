import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { IdempotencyStore } from '../../platform/idempotency/store.ts';

/** The answers of POSTs with an `Idempotency-Key`. */
export const repeatedPosts = feature({
  create: ({ storage, secrets, now, counters }: Pick<Platform, 'storage' | 'secrets' | 'now' | 'counters'>) => ({
    idempotency: new IdempotencyStore(storage, secrets, now, counters),
  }),
  start: (own) => own.idempotency.markInterrupted(),
  sweep: (own) => own.idempotency.sweep(),
});
