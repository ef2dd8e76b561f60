import type { Migration } from './types.ts';

/** Enrolment tokens can be revoked before they are used. */
export const revokedEnrolTokens: Migration = {
  number: 21,
  name: 'revoked enrol tokens',
  statements: () => ['alter table enrol_tokens add column revoked_at bigint'],
};
