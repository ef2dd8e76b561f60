import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Nightly exports, and whether they differ. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table backup_schedules (
      id ${text} primary key, team_id ${text} not null references teams (id), site_id ${text} references sites (id) on delete cascade,
      minutes integer not null, time_zone ${text} not null, spread_minutes integer not null, keep integer not null,
      enabled smallint not null, counts_from bigint not null, runs ${text} not null, created_at bigint not null,
      updated_at bigint not null)`,
    // One for each site, and one for the team.
    "create unique index backup_schedules_by_place on backup_schedules (team_id, coalesce(site_id, ''))",
    'create index backup_schedules_by_site on backup_schedules (site_id)',
    `alter table backups add column schedule_id ${text} references backup_schedules (id) on delete set null`,
    'alter table backups add column changed smallint',
    'create index backups_by_schedule on backups (schedule_id, router_id, created_at, id) where schedule_id is not null',
    // At most one of a router waits.
    "create unique index backups_scheduled on backups (router_id) where origin = 'schedule' and state = 'pending'",
    "create index backups_to_compare on backups (stored_at, id) where state = 'stored' and origin <> 'job' and changed is null",
  ];
}

export const backupSchedules: Migration = { number: 40, name: 'backup schedules', statements };
