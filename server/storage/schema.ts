import type { Generated } from 'kysely';
import type { BackupPartsTable, BackupsTable } from './schema-backups.ts';
import type { CampaignsTable, CampaignTargetsTable } from './schema-campaigns.ts';
import type { Fixed, Flag, Millis } from './schema-columns.ts';
import type { EventPositionsTable, KeptEventsTable } from './schema-events.ts';
import type { ClientsTable, ProviderKeysTable, ProviderRecordsTable } from './schema-identity.ts';
import type {
  GroupNotifiablesTable,
  GroupRecipientsTable,
  GroupSitesTable,
  GroupTopicsTable,
  NotificationGroupsTable,
  SchedulesTable,
  TopicsTable,
} from './schema-notifications.ts';
import type { JobEventAttemptsTable, JobEventsTable, WebhookSecretsTable } from './schema-webhooks.ts';

/**
 * All tables, for both engines. Text ids, integer milliseconds, 0/1 for booleans, JSON as text. Every record of a
 * tenant carries `team_id`, and every query of a tenant's record names it.
 */

export interface TeamsTable {
  id: Fixed<string>;
  name: string;
  created_at: Fixed<Millis>;
}

export interface UsersTable {
  id: Fixed<string>;
  email: string;
  password_hash: string | null;
  created_at: Fixed<Millis>;
  /** Sessions that began before are over. */
  sessions_since: Generated<Millis>;
  /** The team whose administrator was shown the password; null once it is the person's own. */
  password_given_by: string | null;
}

export interface MembersTable {
  team_id: Fixed<string>;
  user_id: Fixed<string>;
  role: string;
  active: Flag;
  created_at: Fixed<Millis>;
}

export interface ApiKeysTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  name: string;
  secret_hash: string;
  role: string;
  created_by: Fixed<string | null>;
  created_at: Fixed<Millis>;
  last_used_at: Millis | null;
  expires_at: Millis | null;
  revoked_at: Millis | null;
  /** The key it was rotated to. */
  replaced_by: string | null;
}

export interface ServiceTokensTable {
  id: Fixed<string>;
  name: string;
  secret_hash: string;
  created_at: Fixed<Millis>;
  revoked_at: Millis | null;
}

export interface SitesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  name: string;
  time_zone: string | null;
  latitude: number | null;
  longitude: number | null;
  created_at: Fixed<Millis>;
}

export interface EnrolTokensTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  site_id: string | null;
  secret_hash: Fixed<string>;
  created_at: Fixed<Millis>;
  expires_at: Fixed<Millis>;
  used_at: Millis | null;
  agent_id: string | null;
}

export interface AgentsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  site_id: string | null;
  name: string;
  secret_hash: string;
  version: string | null;
  created_at: Fixed<Millis>;
  revoked_at: Millis | null;
  /** Raised at every hello; the newest connection wins. */
  epoch: number;
  /** The newest epoch the agent has confirmed to have on disk. */
  confirmed_epoch: number;
  journal_id: string | null;
  connected_at: Millis | null;
  disconnected_at: Millis | null;
}

export interface RoutersTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  site_id: string | null;
  /** Serial number, else software or system id: who this router is inside the team. */
  hardware_id: Fixed<string>;
  agent_id: string;
  /** Its name in that agent's configuration. Empty once another device answers there. */
  agent_router: string;
  serial_number: string | null;
  software_id: string | null;
  identity: string;
  software_version: string;
  model: string | null;
  board_name: string;
  hardware_board: Flag;
  architecture: string | null;
  time_zone: string | null;
  created_at: Fixed<Millis>;
  updated_at: Millis;
}

/** Written often and in chunks, so it is narrow and apart. */
export interface RouterPresenceTable {
  router_id: Fixed<string>;
  reachable: Flag;
  uptime_seconds: number | null;
  last_seen_at: Millis | null;
  /** Address the agent's tunnel came from. */
  last_seen_from: string | null;
}

export interface JobsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  site_id: Fixed<string | null>;
  /** `token` of INTERFACE.md 2.4. */
  token: Fixed<string>;
  request_id: Fixed<string>;
  idempotency_key: Fixed<string>;
  description: Fixed<string>;
  script: Fixed<string>;
  express_execute: Fixed<Flag>;
  needs_acknowledgement: Fixed<Flag>;
  make_backup: Fixed<Flag>;
  notify_url: Fixed<string | null>;
  timeout_ms: Fixed<number>;
  phase: string;
  reason: string | null;
  error: string | null;
  output: string | null;
  output_truncated: Flag;
  /** Agent and epoch that hold it, from `accepted` on. */
  agent_id: string | null;
  epoch: number | null;
  created_at: Fixed<Millis>;
  expires_at: Fixed<Millis>;
  accepted_at: Millis | null;
  started_at: Millis | null;
  /** When the control plane gives up waiting for the result of an accepted or running job. */
  overdue_at: Millis | null;
  completed_at: Millis | null;
  failed_at: Millis | null;
  deleted_at: Millis | null;
  /** Raised in the same statement as every transition. */
  version: number;
  /** The version up to which `job_events` tells what happened; only kept for jobs with a `notify_url`. */
  notified_version: number;
  /** Undo guard: within so many seconds everything must be found reachable; null for none. */
  undo_seconds: Fixed<number | null>;
  /** The stored backup that was taken for it. */
  backup_id: string | null;
}

export interface ForwardsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  port: number;
  allow_only_cidr: Fixed<string>;
  dst_address: Fixed<string>;
  dst_port: Fixed<number>;
  entry_point: Fixed<string>;
  /** SHA-256 of the bearer of its channel dials. */
  channel_token_hash: string;
  way: string | null;
  way_reason: string | null;
  target_reachable: Flag | null;
  created_by: Fixed<string>;
  created_at: Fixed<Millis>;
  authorized_at: Millis | null;
  expires_at: Fixed<Millis>;
  /** When the entry port was closed for good, by expiry or revocation. */
  closed_at: Millis | null;
  revoked_at: Millis | null;
  refused_attempts: number;
  /** Ends a connection through which nothing goes for so long; null for never. */
  idle_seconds: Fixed<number | null>;
  /** Connections at the same time; null for as many as there may be. */
  max_connections: Fixed<number | null>;
  /** Of connections that are over, however long ago. */
  connection_count: Generated<number>;
  bytes_in: Generated<number>;
  bytes_out: Generated<number>;
}

export interface ForwardConnectionsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  forward_id: Fixed<string>;
  source: Fixed<string>;
  opened_at: Fixed<Millis>;
  closed_at: Millis;
  bytes_in: number;
  bytes_out: number;
  ended_by: string;
}

export interface IdempotencyKeysTable {
  team_id: Fixed<string>;
  /** Method and path it was used on: the same key elsewhere is another request. */
  scope: Fixed<string>;
  key: Fixed<string>;
  fingerprint: Fixed<string>;
  created_at: Fixed<Millis>;
  /** Null while the first request is under way. */
  status: number | null;
  response: string | null;
}

export interface AuditLogTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  at: Fixed<Millis>;
  actor_kind: Fixed<string>;
  actor_id: Fixed<string>;
  source: Fixed<string>;
  action: Fixed<string>;
  target: Fixed<string | null>;
  result: Fixed<number>;
}

/** Where a router says it stands, by its own GPS receiver. */
export interface RouterPositionsTable {
  router_id: Fixed<string>;
  latitude: number;
  longitude: number;
  reported_at: Millis;
}

export interface FaultsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  type: Fixed<string>;
  severity: string;
  message: string;
  cause: string;
  /** When it began, which is before it was noticed. */
  created_at: Fixed<Millis>;
  resolved_at: Millis | null;
  /** How often it came back within its time. */
  occurrences: number;
  updated_at: Millis;
}

export interface DevicesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  /** The site, or the router where it stands in none. */
  place: string;
  site_id: string | null;
  /** `AA:BB:CC:DD:EE:FF`. */
  mac: Fixed<string>;
  hostname: string | null;
  manufacturer: string | null;
  first_seen_at: Fixed<Millis>;
}

export interface DeviceAliasesTable {
  team_id: Fixed<string>;
  mac: Fixed<string>;
  alias: string;
  updated_at: Millis;
}

export interface DeviceSightingsTable {
  /** Another one when its router is moved to a site that knows the device already. */
  device_id: string;
  router_id: Fixed<string>;
  ip_address: string | null;
  interface: string | null;
  ip_first_seen_at: Millis;
  last_seen_at: Millis;
  /** Still there: then it was last seen when its router's report was last confirmed. 2: to be confirmed by a running report. */
  present: 0 | 1 | 2;
}

export interface DeviceReportsTable {
  router_id: Fixed<string>;
  confirmed_at: Millis;
}

export interface Schema {
  teams: TeamsTable;
  users: UsersTable;
  members: MembersTable;
  api_keys: ApiKeysTable;
  service_tokens: ServiceTokensTable;
  sites: SitesTable;
  enrol_tokens: EnrolTokensTable;
  agents: AgentsTable;
  routers: RoutersTable;
  router_presence: RouterPresenceTable;
  jobs: JobsTable;
  forwards: ForwardsTable;
  forward_connections: ForwardConnectionsTable;
  idempotency_keys: IdempotencyKeysTable;
  audit_log: AuditLogTable;
  router_positions: RouterPositionsTable;
  faults: FaultsTable;
  devices: DevicesTable;
  device_aliases: DeviceAliasesTable;
  device_sightings: DeviceSightingsTable;
  device_reports: DeviceReportsTable;
  topics: TopicsTable;
  schedules: SchedulesTable;
  notification_groups: NotificationGroupsTable;
  group_recipients: GroupRecipientsTable;
  group_notifiables: GroupNotifiablesTable;
  group_topics: GroupTopicsTable;
  group_sites: GroupSitesTable;
  job_events: JobEventsTable;
  job_event_attempts: JobEventAttemptsTable;
  webhook_secrets: WebhookSecretsTable;
  event_positions: EventPositionsTable;
  kept_events: KeptEventsTable;
  campaigns: CampaignsTable;
  campaign_targets: CampaignTargetsTable;
  backups: BackupsTable;
  backup_parts: BackupPartsTable;
  provider_keys: ProviderKeysTable;
  clients: ClientsTable;
  provider_records: ProviderRecordsTable;
}
