import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Where people are reached, in which language and when, and what they do not want to get. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    'alter table users add column email_verified_at bigint',
    `alter table users add column email_off_reason ${text}`,
    'alter table users add column email_off_at bigint',
    `alter table users add column locale ${text}`,
    `alter table users add column time_zone ${text}`,
    'alter table users add column quiet_from integer',
    'alter table users add column quiet_to integer',
    'alter table users add column quiet_critical integer not null default 1',
    `alter table users add column default_channel ${text}`,
    `create table contacts (id ${text} primary key, user_id ${text} not null references users (id) on delete cascade,
      channel ${text} not null, address ${text} not null, address_key ${text} not null, shown ${text} not null, verified_at bigint,
      off_reason ${text}, off_at bigint, created_at bigint not null, updated_at bigint not null)`,
    'create unique index contacts_by_user on contacts (user_id, channel, address_key)',
    `create table notification_optouts (id ${text} primary key, team_id ${text} not null, user_id ${text} not null,
      scope ${text} not null, scope_id ${text} not null, at bigint not null,
      foreign key (team_id, user_id) references members (team_id, user_id) on delete cascade)`,
    'create unique index notification_optouts_by_member on notification_optouts (team_id, user_id, scope, scope_id)',
  ];
}

export const contacts: Migration = { number: 48, name: 'contacts', statements };
