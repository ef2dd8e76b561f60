import type { Schema } from './schema.ts';

/** What says nothing about a copy of the database, and is left out of it: its processes, and what they have just counted. */
export const LEFT_OUT = ['nodes', 'request_counts', 'sign_in_attempts'] as const satisfies readonly (keyof Schema)[];

export type TableName = Exclude<keyof Schema, (typeof LEFT_OUT)[number]>;

/** Every table with its primary key, after the tables it references. Export and import use this order. */
export const TABLES = {
  teams: ['id'],
  users: ['id'],
  members: ['team_id', 'user_id'],
  api_keys: ['id'],
  service_tokens: ['id'],
  sites: ['id'],
  agents: ['id'],
  enrol_tokens: ['id'],
  routers: ['id'],
  router_presence: ['router_id'],
  jobs: ['id'],
  forwards: ['id'],
  forward_connections: ['id'],
  terminals: ['id'],
  terminal_recordings: ['terminal_id', 'number'],
  idempotency_keys: ['team_id', 'scope', 'key'],
  audit_log: ['id'],
  router_positions: ['router_id'],
  faults: ['id'],
  devices: ['id'],
  device_aliases: ['team_id', 'mac'],
  device_sightings: ['device_id', 'router_id'],
  device_reports: ['router_id'],
  topics: ['id'],
  schedules: ['id'],
  notification_groups: ['id'],
  group_recipients: ['group_id', 'user_id'],
  group_notifiables: ['group_id', 'user_id', 'channel'],
  group_topics: ['group_id', 'topic_id'],
  group_sites: ['group_id', 'site_id'],
  group_escalations: ['group_id'],
  notification_targets: ['id'],
  group_targets: ['group_id', 'target_id'],
  address_proofs: ['id'],
  contacts: ['id'],
  notification_optouts: ['id'],
  silences: ['id'],
  notices: ['id'],
  threads: ['id'],
  thread_items: ['thread_id', 'record_id'],
  messages: ['id'],
  message_attempts: ['id'],
  send_buckets: ['key'],
  job_events: ['id'],
  job_event_attempts: ['id'],
  webhook_secrets: ['id'],
  event_positions: ['team_id'],
  kept_events: ['team_id', 'number'],
  campaigns: ['id'],
  campaign_targets: ['campaign_id', 'router_id'],
  backup_schedules: ['id'],
  backups: ['id'],
  backup_parts: ['backup_id', 'part'],
  secret_keys: ['id'],
  provider_keys: ['id'],
  clients: ['id'],
  provider_records: ['model', 'id'],
  revocations: ['id'],
  invitations: ['id'],
  password_links: ['user_id'],
  router_moves: ['id'],
  server_runs: ['id'],
  router_state_changes: ['id'],
  agent_sessions: ['id'],
  preferences: ['team_id', 'user_id'],
  saved_views: ['id'],
  agent_link_steps: ['agent_id', 'span_s', 'at', 'part'],
  router_health_steps: ['router_id', 'span_s', 'at', 'part'],
} as const satisfies { [T in TableName]: readonly (keyof Schema[T])[] };

export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

export function isTableName(name: string): name is TableName {
  return Object.hasOwn(TABLES, name);
}
