import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/**
 * Types: `text` compares by bytes, `bigint` holds milliseconds and counts, `smallint` a 0/1 flag, `double precision` a
 * coordinate. Both engines know these words (SQLite by affinity).
 *
 * Indices that narrow by a phase or a time are whole, not partial, unless their condition holds for every bound value:
 * a statement with `phase = ?` can never use an index `where phase = 'queued'`.
 */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [...tenancy(text), ...fleet(text), ...jobs(text), ...forwards(text), ...requests(text)];
}

function tenancy(text: string): string[] {
  return [
    `create table teams (id ${text} primary key, name ${text} not null, created_at bigint not null)`,
    'create unique index teams_by_name on teams (name)',
    `create table users (id ${text} primary key, email ${text} not null, password_hash ${text}, created_at bigint not null)`,
    'create unique index users_by_email on users (email)',
    `create table members (
      team_id ${text} not null references teams (id),
      user_id ${text} not null references users (id),
      role ${text} not null, active smallint not null, created_at bigint not null,
      primary key (team_id, user_id))`,
    'create index members_by_user on members (user_id)',
    `create table api_keys (
      id ${text} primary key, team_id ${text} not null references teams (id), name ${text} not null,
      secret_hash ${text} not null, role ${text} not null, created_by ${text}, created_at bigint not null,
      last_used_at bigint, expires_at bigint, revoked_at bigint)`,
    'create index api_keys_by_team on api_keys (team_id, created_at, id)',
    `create table service_tokens (
      id ${text} primary key, name ${text} not null, secret_hash ${text} not null, created_at bigint not null,
      revoked_at bigint)`,
    'create unique index service_tokens_by_secret on service_tokens (secret_hash)',
    `create table sites (
      id ${text} primary key, team_id ${text} not null references teams (id), name ${text} not null, time_zone ${text},
      latitude double precision, longitude double precision, created_at bigint not null)`,
    'create unique index sites_by_name on sites (team_id, name)',
  ];
}

function fleet(text: string): string[] {
  return [
    `create table agents (
      id ${text} primary key, team_id ${text} not null references teams (id), site_id ${text} references sites (id),
      name ${text} not null, secret_hash ${text} not null, version ${text}, created_at bigint not null, revoked_at bigint,
      epoch bigint not null, confirmed_epoch bigint not null, journal_id ${text}, connected_at bigint, disconnected_at bigint)`,
    'create index agents_by_team on agents (team_id, created_at, id)',
    `create table enrol_tokens (
      id ${text} primary key, team_id ${text} not null references teams (id), site_id ${text} references sites (id),
      secret_hash ${text} not null, created_at bigint not null, expires_at bigint not null, used_at bigint, agent_id ${text})`,
    'create unique index enrol_tokens_by_secret on enrol_tokens (secret_hash)',
    'create index enrol_tokens_by_team on enrol_tokens (team_id, created_at, id)',
    `create table routers (
      id ${text} primary key, team_id ${text} not null references teams (id), site_id ${text} references sites (id),
      hardware_id ${text} not null, agent_id ${text} not null references agents (id), agent_router ${text} not null,
      serial_number ${text}, software_id ${text}, identity ${text} not null, software_version ${text} not null,
      model ${text}, board_name ${text} not null, hardware_board smallint not null, architecture ${text},
      time_zone ${text}, created_at bigint not null, updated_at bigint not null)`,
    // Who a router is: what an agent that was installed anew finds again.
    'create unique index routers_by_hardware on routers (team_id, hardware_id)',
    'create index routers_by_agent on routers (agent_id, agent_router)',
    'create index routers_by_team on routers (team_id, created_at, id)',
    `create table router_presence (
      router_id ${text} primary key references routers (id) on delete cascade, reachable smallint not null,
      uptime_seconds bigint, last_seen_at bigint, last_seen_from ${text})`,
  ];
}

function jobs(text: string): string[] {
  return [
    `create table jobs (
      id ${text} primary key, team_id ${text} not null references teams (id), router_id ${text} not null references routers (id),
      site_id ${text}, token ${text} not null, request_id ${text} not null, idempotency_key ${text} not null,
      description ${text} not null, script ${text} not null, express_execute smallint not null,
      needs_acknowledgement smallint not null, make_backup smallint not null, notify_url ${text}, timeout_ms bigint not null,
      phase ${text} not null, reason ${text}, error ${text}, output ${text}, output_truncated smallint not null,
      agent_id ${text}, epoch bigint, created_at bigint not null, expires_at bigint not null, accepted_at bigint,
      started_at bigint, overdue_at bigint, completed_at bigint, failed_at bigint, deleted_at bigint,
      version bigint not null, notified_version bigint not null)`,
    'create index jobs_by_router_phase on jobs (router_id, phase, created_at, id)',
    // Read backwards for the newest first.
    'create index jobs_by_team_router on jobs (team_id, router_id, created_at, id)',
    // How a POST that was repeated after a crash finds the job it had made.
    'create index jobs_by_key on jobs (team_id, router_id, idempotency_key)',
    'create index jobs_by_phase_expiry on jobs (phase, expires_at)',
    'create index jobs_by_agent_phase on jobs (agent_id, phase)',
    // Any comparison with overdue_at implies that it is not null, so these may be partial; see above.
    'create index jobs_overdue on jobs (overdue_at) where overdue_at is not null',
    'create index jobs_to_notify on jobs (id) where notify_url is not null and notified_version < version',
  ];
}

function forwards(text: string): string[] {
  return [
    `create table forwards (
      id ${text} primary key, team_id ${text} not null references teams (id), router_id ${text} not null references routers (id),
      port integer not null, allow_only_cidr ${text} not null, dst_address ${text} not null, dst_port integer not null,
      entry_point ${text} not null, channel_token_hash ${text} not null, way ${text}, way_reason ${text},
      target_reachable smallint, created_by ${text} not null, created_at bigint not null, authorized_at bigint,
      expires_at bigint not null, closed_at bigint, revoked_at bigint, refused_attempts bigint not null)`,
    // A port leads to one place at a time; it is free again once its forward is closed.
    'create unique index forwards_open_port on forwards (port) where closed_at is null',
    'create index forwards_open_expiry on forwards (expires_at) where closed_at is null',
    'create index forwards_by_team_router on forwards (team_id, router_id, created_at, id)',
    'create index forwards_by_router on forwards (router_id)',
    `create table forward_connections (
      id ${text} primary key, team_id ${text} not null references teams (id),
      forward_id ${text} not null references forwards (id), source ${text} not null, opened_at bigint not null,
      closed_at bigint not null, bytes_in bigint not null, bytes_out bigint not null, ended_by ${text} not null)`,
    'create index forward_connections_by_forward on forward_connections (forward_id, opened_at, id)',
  ];
}

function requests(text: string): string[] {
  return [
    `create table idempotency_keys (
      team_id ${text} not null references teams (id), scope ${text} not null, key ${text} not null,
      fingerprint ${text} not null, created_at bigint not null, status integer, response ${text},
      primary key (team_id, scope, key))`,
    'create index idempotency_keys_by_age on idempotency_keys (created_at)',
    `create table audit_log (
      id ${text} primary key, team_id ${text} not null references teams (id), at bigint not null, actor_kind ${text} not null,
      actor_id ${text} not null, source ${text} not null, action ${text} not null, target ${text}, result integer not null)`,
    'create index audit_log_by_team on audit_log (team_id, at, id)',
  ];
}

export const initial: Migration = { number: 1, name: 'initial', statements };
