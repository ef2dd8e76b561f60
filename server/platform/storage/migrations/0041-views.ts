import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** What belongs to a person goes with the membership. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  const ofMember = 'foreign key (team_id, user_id) references members (team_id, user_id) on delete cascade';
  return [
    `create table preferences (team_id ${text} not null, user_id ${text} not null, content ${text} not null, version integer not null,
      updated_at bigint not null, primary key (team_id, user_id), ${ofMember})`,
    `create table saved_views (id ${text} primary key, team_id ${text} not null references teams (id), user_id ${text}, list ${text} not null,
      name ${text} not null, query ${text} not null, created_at bigint not null, updated_at bigint not null, ${ofMember})`,
    // One owner's names; the team's are those of nobody.
    "create unique index saved_views_by_name on saved_views (team_id, coalesce(user_id, ''), name)",
    'create index saved_views_by_age on saved_views (team_id, created_at, id)',
  ];
}

export const views: Migration = { number: 41, name: 'views', statements };
