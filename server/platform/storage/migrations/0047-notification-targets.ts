import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Addresses of a team, the codes that prove them, and who is told next. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  const group = `references notification_groups (id) on delete cascade`;
  return [
    `create table notification_targets (id ${text} primary key, team_id ${text} not null references teams (id), name ${text} not null,
      channel ${text} not null, address ${text} not null, address_key ${text} not null, shown ${text} not null, verified_at bigint,
      off_reason ${text}, off_at bigint, created_at bigint not null, updated_at bigint not null)`,
    'create unique index notification_targets_by_name on notification_targets (team_id, name)',
    'create index notification_targets_by_team on notification_targets (team_id, created_at, id)',
    `create table group_targets (team_id ${text} not null, group_id ${text} not null ${group},
      target_id ${text} not null references notification_targets (id) on delete cascade, position integer not null,
      primary key (group_id, target_id))`,
    'create index group_targets_by_target on group_targets (target_id)',
    `create table group_escalations (group_id ${text} primary key ${group}, team_id ${text} not null references teams (id),
      next_group_id ${text} not null ${group}, after_minutes integer not null)`,
    'create index group_escalations_by_team on group_escalations (team_id)',
    'create index group_escalations_by_next on group_escalations (next_group_id)',
    `create table address_proofs (id ${text} primary key, team_id ${text} not null references teams (id), user_id ${text},
      owner_id ${text} not null, address_key ${text} not null, code_hash ${text} not null, tries integer not null,
      sent_at bigint not null, expires_at bigint not null)`,
    'create index address_proofs_by_owner on address_proofs (owner_id, sent_at)',
    'create index address_proofs_by_team on address_proofs (team_id, sent_at)',
    'create index address_proofs_by_address on address_proofs (address_key, sent_at)',
    'create index address_proofs_by_time on address_proofs (sent_at)',
  ];
}

export const notificationTargets: Migration = { number: 47, name: 'notification targets', statements };
