import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/**
 * Who is told about what. What a group names is kept in link tables, so that whatever is deleted leaves every group at
 * once; `position` keeps the order in which the links were given.
 */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [...groups(text), ...links(text), `alter table api_keys add column replaced_by ${text}`];
}

function groups(text: string): string[] {
  return [
    `create table topics (
      id ${text} primary key, team_id ${text} not null references teams (id), name ${text} not null, events ${text} not null,
      created_at bigint not null, updated_at bigint not null)`,
    'create unique index topics_by_name on topics (team_id, name)',
    'create index topics_by_team on topics (team_id, created_at, id)',
    `create table schedules (
      id ${text} primary key, team_id ${text} not null references teams (id), name ${text} not null,
      time_zone ${text} not null, windows ${text} not null, created_at bigint not null, updated_at bigint not null)`,
    'create unique index schedules_by_name on schedules (team_id, name)',
    'create index schedules_by_team on schedules (team_id, created_at, id)',
    `create table notification_groups (
      id ${text} primary key, team_id ${text} not null references teams (id), name ${text} not null,
      schedule_id ${text} references schedules (id) on delete set null, mute ${text} not null, created_at bigint not null,
      updated_at bigint not null)`,
    'create index notification_groups_by_team on notification_groups (team_id, created_at, id)',
    'create index notification_groups_by_schedule on notification_groups (schedule_id)',
  ];
}

function links(text: string): string[] {
  const group = `team_id ${text} not null, group_id ${text} not null references notification_groups (id) on delete cascade`;
  const member = 'foreign key (team_id, user_id) references members (team_id, user_id) on delete cascade';
  return [
    `create table group_recipients (
      ${group}, user_id ${text} not null, position integer not null, primary key (group_id, user_id), ${member})`,
    'create index group_recipients_by_user on group_recipients (team_id, user_id)',
    `create table group_notifiables (
      ${group}, user_id ${text} not null, channel ${text} not null, position integer not null,
      primary key (group_id, user_id, channel), ${member})`,
    'create index group_notifiables_by_user on group_notifiables (team_id, user_id)',
    `create table group_topics (
      ${group}, topic_id ${text} not null references topics (id) on delete cascade, position integer not null,
      primary key (group_id, topic_id))`,
    'create index group_topics_by_topic on group_topics (topic_id)',
    `create table group_sites (
      ${group}, site_id ${text} not null references sites (id) on delete cascade, position integer not null,
      primary key (group_id, site_id))`,
    'create index group_sites_by_site on group_sites (site_id)',
  ];
}

export const notifications: Migration = { number: 3, name: 'notifications', statements };
