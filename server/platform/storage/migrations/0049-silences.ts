import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Maintenance: facts that nobody is to hear of for a time. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table silences (id ${text} primary key, team_id ${text} not null references teams (id),
      router_id ${text} references routers (id) on delete cascade, site_id ${text} references sites (id) on delete cascade,
      from_at bigint not null, until_at bigint not null, reason ${text} not null, created_by_kind ${text} not null,
      created_by ${text} not null, created_at bigint not null)`,
    'create index silences_by_team on silences (team_id, created_at, id)',
    'create index silences_lasting on silences (team_id, until_at)',
    'create index silences_by_end on silences (until_at)',
    'create index silences_by_router on silences (router_id) where router_id is not null',
    'create index silences_by_site on silences (site_id) where site_id is not null',
  ];
}

export const silences: Migration = { number: 49, name: 'silences', statements };
