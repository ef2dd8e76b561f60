import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** What a request made, where its path cannot say it; null for most. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [`alter table audit_log add column detail ${text}`];
}

export const auditDetail: Migration = { number: 13, name: 'audit detail', statements };
