import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Who used an Idempotency-Key, so that one caller cannot use up the room for kept answers of its whole team. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [`alter table idempotency_keys add column caller ${text}`];
}

export const keyCallers: Migration = { number: 25, name: 'key callers', statements };
