import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Which addresses share a rate. Null for those that were stored before: each has its own. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [`alter table notification_targets add column bucket ${text}`, `alter table contacts add column bucket ${text}`];
}

export const addressBuckets: Migration = { number: 55, name: 'address buckets', statements };
