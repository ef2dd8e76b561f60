import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** The key that the maker of a forward chose, by which a repeat finds it after a crash; null where none was given. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [`alter table forwards add column idempotency_key ${text}`];
}

export const repeatedForwards: Migration = { number: 12, name: 'repeated forwards', statements };
