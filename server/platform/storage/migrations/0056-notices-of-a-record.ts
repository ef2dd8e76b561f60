import type { Migration } from './types.ts';

/** The newest notice of a record says what was told last; the newest of a team are kept. */
export const noticesOfARecord: Migration = {
  number: 56,
  name: 'notices of a record',
  statements: () => [
    'create index notices_by_record on notices (record_id, version)',
    'create index notices_by_team on notices (team_id, stored_at, id)',
  ],
};
