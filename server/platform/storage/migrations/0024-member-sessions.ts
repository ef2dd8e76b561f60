import type { Migration } from './types.ts';

/** Sessions that began before a member was switched off are over in this team, also once the member is switched on again. */
export const memberSessions: Migration = {
  number: 24,
  name: 'member sessions',
  statements: () => ['alter table members add column sessions_since bigint not null default 0'],
};
