import type { Migration } from './types.ts';

/** A notification group that is deleted stays as long as the log of its messages, and tells the ends of what it has told. */
function statements(): string[] {
  return [
    'alter table notification_groups add column deleted_at bigint',
    'create index notification_groups_deleted on notification_groups (deleted_at) where deleted_at is not null',
  ];
}

export const deletedGroups: Migration = { number: 79, name: 'deleted groups', expands: true, statements };
