import type { Migration } from './types.ts';

/** Teams take turns with what is due, so each is looked up by itself. */
function statements(): string[] {
  return [
    'create index job_events_due_by_team on job_events (team_id, due_at, origin) where due_at is not null',
    'create index backups_due_by_team on backups (team_id, due_at) where due_at is not null',
    // Of all teams together only the next moment is asked for (job_events_due).
    'drop index backups_due',
  ];
}

export const dueByTeam: Migration = { number: 17, name: 'due by team', statements };
