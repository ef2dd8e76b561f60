import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Which of several control planes has the request that holds an Idempotency-Key: one that starts must not take it for interrupted. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [`alter table idempotency_keys add column node_id ${text}`];
}

export const keysOfNodes: Migration = { number: 70, name: 'keys of nodes', statements };
