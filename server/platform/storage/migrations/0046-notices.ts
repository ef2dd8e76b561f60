import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Facts that notification groups hear about, written with the fact. No reference to the record: a notice outlives it. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table notices (id ${text} primary key, team_id ${text} not null references teams (id), kind ${text} not null,
      phase ${text} not null, severity ${text} not null, key ${text} not null, record_id ${text} not null, version bigint not null,
      router_id ${text}, agent_id ${text}, at bigint not null, data ${text} not null, stored_at bigint not null, routed_at bigint)`,
    'create index notices_unrouted on notices (team_id, id) where routed_at is null',
    // Each fact asks whether a group of its team listens.
    'create index group_topics_by_team on group_topics (team_id)',
  ];
}

export const notices: Migration = { number: 46, name: 'notices', statements };
