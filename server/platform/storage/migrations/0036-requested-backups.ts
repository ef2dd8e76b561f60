import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Backups that were taken without a job. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    ...(engine === 'sqlite' ? jobMayBeAbsent(text) : ['alter table backups alter column job_id drop not null']),
    `alter table backups add column origin ${text} not null default 'job'`,
    `alter table backups add column wanted ${text}`,
    // At most one of a router waits.
    "create unique index backups_requested on backups (router_id) where origin = 'request' and state = 'pending'",
  ];
}

/** SQLite cannot change a column. A new table would take the parts along, which are large; a new column does not. */
function jobMayBeAbsent(text: string): string[] {
  return [
    'drop index backups_by_job',
    `alter table backups add column new_job_id ${text} references jobs (id) on delete cascade`,
    'update backups set new_job_id = job_id',
    'alter table backups drop column job_id',
    'alter table backups rename column new_job_id to job_id',
    'create unique index backups_by_job on backups (job_id)',
  ];
}

export const requestedBackups: Migration = { number: 36, name: 'requested backups', statements };
