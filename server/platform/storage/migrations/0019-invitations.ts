import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Joining a team takes an invitation and the person's yes; a lost password is replaced by a link and not by another password. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    // Who asks is a user, an API key or the server's operator, so their id refers to no single table.
    `create table invitations (
      id ${text} primary key, team_id ${text} not null references teams (id), email ${text} not null, role ${text} not null,
      inviter_kind ${text} not null, inviter_id ${text}, code_hash ${text} not null, state ${text} not null,
      created_at bigint not null, expires_at bigint not null)`,
    'create unique index invitations_by_code on invitations (code_hash)',
    `create unique index invitations_open on invitations (team_id, email) where state = 'open'`,
    'create index invitations_by_team on invitations (team_id, created_at, id)',
    'create index invitations_by_age on invitations (expires_at)',
    `create table password_links (
      user_id ${text} primary key references users (id), team_id ${text} not null references teams (id),
      issuer_kind ${text} not null, issuer_id ${text}, code_hash ${text} not null, created_at bigint not null,
      expires_at bigint not null)`,
    'create unique index password_links_by_code on password_links (code_hash)',
    // Administrators were shown the passwords of accounts that they made. Until such a person has chosen another one, no
    // further team is added to the account without it.
    'alter table users add column password_shared integer not null default 0',
    'update users set password_shared = 1 where password_given_by is not null',
    'alter table users drop column password_given_by',
  ];
}

export const invitations: Migration = { number: 19, name: 'invitations', statements };
