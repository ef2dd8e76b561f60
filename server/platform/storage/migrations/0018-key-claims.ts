import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Which request holds an Idempotency-Key, so that one whose end could not be stored is not taken for one under way. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [`alter table idempotency_keys add column claim ${text}`];
}

export const keyClaims: Migration = { number: 18, name: 'key claims', statements };
