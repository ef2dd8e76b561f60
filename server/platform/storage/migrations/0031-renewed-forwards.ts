import type { Migration } from './types.ts';

/** When the end of a forward was set, if later than its creation. */
function statements(): string[] {
  return ['alter table forwards add column renewed_at bigint'];
}

export const renewedForwards: Migration = { number: 31, name: 'renewed forwards', statements };
