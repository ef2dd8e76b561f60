import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Terminals of routers and their recordings. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table terminals (id ${text} primary key, team_id ${text} not null references teams (id),
      router_id ${text} not null references routers (id), agent_id ${text} not null, level ${text} not null, reason ${text} not null,
      opened_by ${text} not null, opened_by_kind ${text} not null, opened_via ${text}, signed_in_at bigint, source ${text} not null,
      created_at bigint not null, opened_at bigint, ended_at bigint, end_reason ${text}, end_message ${text}, ended_by ${text},
      cols integer not null, rows integer not null, output_bytes bigint not null default 0, input_bytes bigint not null default 0,
      recording_chars bigint not null default 0, recording_chunks integer not null default 0, recording_deleted_at bigint)`,
    // One for each person and router.
    'create unique index terminals_open on terminals (team_id, router_id, opened_by) where ended_at is null',
    'create index terminals_by_team on terminals (team_id, created_at, id)',
    'create index terminals_by_router on terminals (router_id, created_at, id)',
    // Recordings that are old enough to be deleted.
    'create index terminals_recorded on terminals (ended_at) where recording_chunks > 0 and recording_deleted_at is null',
    `create table terminal_recordings (terminal_id ${text} not null references terminals (id) on delete cascade, number integer not null,
      team_id ${text} not null references teams (id), content ${text} not null, stored_at bigint not null,
      primary key (terminal_id, number))`,
  ];
}

export const terminals: Migration = { number: 42, name: 'terminals', statements };
