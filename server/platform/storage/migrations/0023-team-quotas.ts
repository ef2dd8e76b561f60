import type { Migration } from './types.ts';

/** What one team keeps is counted, and its oldest records are found, without looking at those of other teams. */
export const teamQuotas: Migration = {
  number: 23,
  name: 'team quotas',
  statements: () => [
    'create index forwards_by_team on forwards (team_id, created_at, id)',
    // Sizes are summed up from the index: a row has megabytes of content.
    'create index backup_parts_by_team on backup_parts (team_id, backup_id, size)',
  ],
};
