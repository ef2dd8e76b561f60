import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** What each group sees as one thing, with the records in it. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table threads (id ${text} primary key, team_id ${text} not null references teams (id),
      group_id ${text} not null references notification_groups (id) on delete cascade, key ${text} not null, kind ${text} not null,
      severity ${text} not null, router_id ${text}, agent_id ${text}, site_id ${text}, state ${text} not null,
      parent_id ${text}, open_count integer not null, item_count integer not null,
      first_at bigint not null, ended_at bigint, pending ${text}, pending_since bigint, flush_at bigint, revision integer not null,
      told_open integer not null, told_at bigint, told_count integer not null, openings ${text} not null, flapping_since bigint,
      muted integer not null, acknowledged_at bigint, acknowledged_by ${text}, created_at bigint not null, updated_at bigint not null,
      closed_at bigint)`,
    // One open thread for each group and key.
    'create unique index threads_open on threads (group_id, key) where closed_at is null',
    'create index threads_due on threads (team_id, flush_at) where flush_at is not null',
    'create index threads_flush on threads (flush_at) where flush_at is not null',
    'create index threads_by_team on threads (team_id, created_at, id)',
    'create index threads_by_parent on threads (parent_id) where parent_id is not null',
    'create index threads_muted on threads (team_id, group_id) where muted = 1',
    'create index threads_closed on threads (closed_at) where closed_at is not null',
    `create table thread_items (thread_id ${text} not null references threads (id) on delete cascade, record_id ${text} not null,
      team_id ${text} not null references teams (id), kind ${text} not null, severity ${text} not null, router_id ${text},
      agent_id ${text}, version bigint not null, opened_at bigint not null, resolved_at bigint, data ${text} not null,
      primary key (thread_id, record_id))`,
    'create index thread_items_open on thread_items (record_id) where resolved_at is null',
  ];
}

export const threads: Migration = { number: 50, name: 'threads', statements };
