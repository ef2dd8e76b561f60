import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Which threads an ended storm or site stood for, and indexes by which a team's threads are found among those that are closed. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `alter table threads add column told_in ${text}`,
    'create index threads_told_in on threads (told_in) where told_in is not null',
    'create index threads_by_key on threads (team_id, key) where closed_at is null',
    // A deleted group takes its threads along, and the database looks for them by the group alone.
    'drop index threads_by_group',
    'create index threads_by_group on threads (group_id, team_id, created_at, id)',
    'create index threads_by_kind on threads (group_id, kind) where closed_at is null',
  ];
}

export const threadMembers: Migration = { number: 57, name: 'thread members', statements };
