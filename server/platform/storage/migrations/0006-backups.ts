import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** What protects routers from scripts: the undo guard of a job, and the backups taken before and after one. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    'alter table jobs add column undo_seconds integer',
    `alter table jobs add column backup_id ${text}`,
    // For the net under what is noted when a job ends.
    'create index jobs_with_backup on jobs (created_at) where make_backup = 1',
    // `due_at` is null once nothing more is to be fetched.
    `create table backups (
      id ${text} primary key, team_id ${text} not null references teams (id),
      router_id ${text} not null references routers (id), job_id ${text} not null references jobs (id) on delete cascade,
      state ${text} not null, attempts integer not null, due_at bigint, error ${text}, created_at bigint not null,
      stored_at bigint)`,
    'create unique index backups_by_job on backups (job_id)',
    'create index backups_by_router on backups (router_id, state, created_at, id)',
    'create index backups_by_age on backups (created_at)',
    'create index backups_due on backups (due_at) where due_at is not null',
    // Apart, so that lists do not read megabytes.
    `create table backup_parts (
      backup_id ${text} not null references backups (id) on delete cascade, part ${text} not null,
      team_id ${text} not null references teams (id), size integer not null, sha256 ${text} not null,
      content ${text} not null, stored_at bigint not null, primary key (backup_id, part))`,
  ];
}

export const backups: Migration = { number: 6, name: 'backups', statements };
