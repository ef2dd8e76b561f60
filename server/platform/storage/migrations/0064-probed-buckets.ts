import type { Migration } from './types.ts';

/** Whether a provider has refused an account, and one message tries whether it still does. */
function statements(): string[] {
  return ['alter table send_buckets add column probing_until bigint'];
}

export const probedBuckets: Migration = { number: 64, name: 'probed buckets', statements };
