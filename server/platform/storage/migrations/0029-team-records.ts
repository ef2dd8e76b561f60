import { JOB_STATUS_SQL } from '../job-status.ts';
import type { Migration } from './types.ts';

/** Jobs, faults, forwards and backups of a whole team, newest first, and by what people filter them by. */
function statements(): string[] {
  return [
    'create index jobs_by_team on jobs (team_id, created_at, id)',
    `create index jobs_by_status on jobs (team_id, ${JOB_STATUS_SQL}, created_at, id)`,
    'create index jobs_by_site on jobs (team_id, site_id, created_at, id)',
    'create index faults_by_type on faults (team_id, type, created_at, id)',
    'create index faults_by_severity on faults (team_id, severity, created_at, id)',
    'create index faults_open_by_team on faults (team_id, created_at, id) where resolved_at is null',
    'create index faults_open_by_type on faults (team_id, type, created_at, id) where resolved_at is null',
    'create index forwards_open_by_team on forwards (team_id, created_at, id) where closed_at is null',
    'create index backups_by_team on backups (team_id, created_at, id)',
    'create index backups_by_state on backups (team_id, state, created_at, id)',
    'create index backups_by_team_router on backups (team_id, router_id, created_at, id)',
  ];
}

export const teamRecords: Migration = { number: 29, name: 'team records', statements };
