import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Causes of faults as codes, for messages in other languages. */
function statements(engine: Engine): string[] {
  return [`alter table faults add column causes ${capabilities[engine].text}`];
}

export const causes: Migration = { number: 67, name: 'causes of faults as codes', statements };
