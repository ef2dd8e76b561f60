import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** What happened to a job, noted by the statements that make its transitions; and its undo guard. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `alter table jobs add column transitions ${text}`,
    `alter table jobs add column guard_state ${text}`,
    'alter table jobs add column guard_armed_at bigint',
    'alter table jobs add column guard_fires_at bigint',
  ];
}

export const jobTransitions: Migration = { number: 39, name: 'job transitions', statements };
