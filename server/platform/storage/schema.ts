import type { InvitationsTable, PasswordLinksTable } from './schema-accounts.ts';
import type { BackupPartsTable, BackupSchedulesTable, BackupsTable } from './schema-backups.ts';
import type { CampaignsTable, CampaignTargetsTable } from './schema-campaigns.ts';
import type { DeviceAliasesTable, DeviceReportsTable, DeviceSightingsTable, DevicesTable } from './schema-devices.ts';
import type { EventPositionsTable, KeptEventsTable } from './schema-events.ts';
import type { ForwardConnectionsTable, ForwardsTable } from './schema-forwards.ts';
import type { AgentSessionsTable, RouterStateChangesTable, ServerRunsTable } from './schema-history.ts';
import type { ClientsTable, ProviderKeysTable, ProviderRecordsTable, SignInAttemptsTable } from './schema-identity.ts';
import type { JobsTable } from './schema-jobs.ts';
import type { NodesTable, SecretKeysTable } from './schema-nodes.ts';
import type {
  MessageAttemptsTable,
  MessagesTable,
  NoticesTable,
  SendBucketsTable,
  ThreadItemsTable,
  ThreadsTable,
} from './schema-notices.ts';
import type {
  AddressProofsTable,
  ContactsTable,
  GroupEscalationsTable,
  GroupNotifiablesTable,
  GroupRecipientsTable,
  GroupSitesTable,
  GroupTargetsTable,
  GroupTopicsTable,
  NotificationGroupsTable,
  NotificationOptoutsTable,
  NotificationTargetsTable,
  SchedulesTable,
  SilencesTable,
  TelegramLinksTable,
  TelegramReadersTable,
  TopicsTable,
} from './schema-notifications.ts';
import type { AuditLogTable, IdempotencyKeysTable, RequestCountsTable } from './schema-requests.ts';
import type { RevocationsTable } from './schema-revocations.ts';
import type {
  AgentsTable,
  EnrolTokensTable,
  FaultsTable,
  RouterMovesTable,
  RouterPositionsTable,
  RouterPresenceTable,
  RoutersTable,
} from './schema-routers.ts';
import type { AgentLinkStepsTable, RouterHealthStepsTable } from './schema-steps.ts';
import type { ApiKeysTable, MembersTable, ServiceTokensTable, SitesTable, TeamsTable, UsersTable } from './schema-teams.ts';
import type { TerminalRecordingsTable, TerminalsTable } from './schema-terminals.ts';
import type { PreferencesTable, SavedViewsTable } from './schema-views.ts';
import type { JobEventAttemptsTable, JobEventsTable, WebhookSecretsTable } from './schema-webhooks.ts';

/**
 * All tables, for both engines. Text ids, integer milliseconds, 0/1 for booleans, JSON as text. Every record of a
 * tenant carries `team_id`, and every query of a tenant's record names it.
 */
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
  terminals: TerminalsTable;
  terminal_recordings: TerminalRecordingsTable;
  idempotency_keys: IdempotencyKeysTable;
  audit_log: AuditLogTable;
  request_counts: RequestCountsTable;
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
  group_escalations: GroupEscalationsTable;
  notification_targets: NotificationTargetsTable;
  group_targets: GroupTargetsTable;
  address_proofs: AddressProofsTable;
  contacts: ContactsTable;
  telegram_links: TelegramLinksTable;
  telegram_readers: TelegramReadersTable;
  notification_optouts: NotificationOptoutsTable;
  silences: SilencesTable;
  notices: NoticesTable;
  threads: ThreadsTable;
  thread_items: ThreadItemsTable;
  messages: MessagesTable;
  message_attempts: MessageAttemptsTable;
  send_buckets: SendBucketsTable;
  job_events: JobEventsTable;
  job_event_attempts: JobEventAttemptsTable;
  webhook_secrets: WebhookSecretsTable;
  event_positions: EventPositionsTable;
  kept_events: KeptEventsTable;
  campaigns: CampaignsTable;
  campaign_targets: CampaignTargetsTable;
  backup_schedules: BackupSchedulesTable;
  backups: BackupsTable;
  backup_parts: BackupPartsTable;
  provider_keys: ProviderKeysTable;
  clients: ClientsTable;
  provider_records: ProviderRecordsTable;
  sign_in_attempts: SignInAttemptsTable;
  revocations: RevocationsTable;
  invitations: InvitationsTable;
  password_links: PasswordLinksTable;
  router_moves: RouterMovesTable;
  server_runs: ServerRunsTable;
  nodes: NodesTable;
  secret_keys: SecretKeysTable;
  router_state_changes: RouterStateChangesTable;
  agent_sessions: AgentSessionsTable;
  preferences: PreferencesTable;
  saved_views: SavedViewsTable;
  agent_link_steps: AgentLinkStepsTable;
  router_health_steps: RouterHealthStepsTable;
}
