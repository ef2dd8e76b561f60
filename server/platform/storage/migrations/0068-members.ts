import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Several control planes on one database: where each is reached, and which of them has an agent's tunnel. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [`alter table nodes add column public_url ${text}`, `alter table agents add column node_id ${text}`];
}

export const members: Migration = { number: 68, name: 'members', statements };
