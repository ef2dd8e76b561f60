import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Orders and filters of the lists of a whole team (docs/lists.md). */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    // Filled at the next start: SQL cannot read versions on both engines.
    `alter table routers add column version_key ${text} not null default ''`,
    "create index routers_without_version_key on routers (id) where version_key = ''",
    // Of what is removed there is little, and nobody sorts it by anything but its age.
    'drop index routers_by_identity',
    'create index routers_named on routers (team_id, identity, id) where removed_at is null',
    "create index routers_by_model on routers (team_id, coalesce(model, ''), id) where removed_at is null",
    'create index routers_by_version on routers (team_id, version_key, id) where removed_at is null',
  ];
}

export const lists: Migration = { number: 27, name: 'lists', statements };
