import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** What the built-in OpenID provider keeps: its keys, the clients that teams register, and its short-lived records. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    // Tokens issued before this moment are refused.
    'alter table users add column sessions_since bigint not null default 0',
    `create table provider_keys (
      id ${text} primary key, kind ${text} not null, secret ${text} not null, created_at bigint not null,
      active_at bigint not null)`,
    `create table clients (
      id ${text} primary key, team_id ${text} not null references teams (id), name ${text} not null, kind ${text} not null,
      role ${text} not null, redirect_uris ${text} not null, post_logout_redirect_uris ${text} not null,
      secret_hash ${text}, created_by ${text}, created_at bigint not null)`,
    'create index clients_by_team on clients (team_id, created_at, id)',
    // Of all teams and of none: a record belongs to its account and client. Ids are hashes, payloads encrypted.
    `create table provider_records (
      model ${text} not null, id ${text} not null, payload ${text} not null, grant_id ${text}, uid ${text},
      account_id ${text}, client_id ${text}, expires_at bigint not null, consumed_at bigint, primary key (model, id))`,
    'create index provider_records_by_grant on provider_records (grant_id) where grant_id is not null',
    'create index provider_records_by_uid on provider_records (uid) where uid is not null',
    'create index provider_records_by_account on provider_records (account_id) where account_id is not null',
    'create index provider_records_by_client on provider_records (client_id) where client_id is not null',
    'create index provider_records_by_age on provider_records (expires_at)',
  ];
}

export const userSessions: Migration = { number: 9, name: 'user sessions', statements };
