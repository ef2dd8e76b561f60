import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/**
 * Rights that were taken away: written in the same transaction, by whichever program, and carried out by the control
 * plane. With them, who opened what: the key or person, and the client through which a person did it.
 */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table revocations (
      id ${text} primary key, team_id ${text} not null references teams (id), kind ${text} not null, subject_id ${text} not null,
      created_at bigint not null, revoke_keys integer not null, passes integer not null, due_at bigint, report ${text})`,
    'create index revocations_by_team on revocations (team_id, created_at, id)',
    'create index revocations_due on revocations (due_at) where due_at is not null',
    `alter table jobs add column created_by ${text}`,
    `alter table jobs add column created_via ${text}`,
    // Asked for with these very words, so that the index is used; finished jobs are not in it.
    "create index jobs_open_by_creator on jobs (team_id, created_by) where phase in ('queued', 'accepted', 'running')",
    `alter table forwards add column created_via ${text}`,
    `alter table campaigns add column created_via ${text}`,
  ];
}

export const revocations: Migration = { number: 14, name: 'revocations', statements };
