import type { Migration } from './types.ts';

/** Who sees and drains the control planes, whatever team they are in. */
function statements(): string[] {
  return ['alter table users add column installation_admin bigint not null default 0'];
}

export const installationAdmins: Migration = { number: 73, name: 'installation admins', expands: true, statements };
