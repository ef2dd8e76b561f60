import type { Role } from '../../server/platform/core/principal.ts';

/**
 * Every route of the public interface, as data: what the tests of teams and credentials go by. A route of
 * `/openapi.json` that is missing here fails one of them.
 */
export interface RouteRow {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As the OpenAPI document has it. */
  path: string;
  /** Least role of the caller. */
  role: Role;
  /**
   * `record`: names a record of a team, so for another team it does not exist. `list`: answers what the caller's team
   * has. `create`: makes something in the caller's team. `stream`: never ends by itself. `person`: only for a session.
   * `installation`: only for the session of an administrator of the installation, whatever the role.
   */
  kind: 'record' | 'list' | 'create' | 'stream' | 'person' | 'installation';
  /** What its owner may send, ids written like the parameters of a path; none when missing. */
  body?: unknown;
  /** Without which it answers nothing; none when missing. */
  query?: string;
}

function row(role: Role, kind: RouteRow['kind'], route: string, body?: unknown): RouteRow {
  const [method, path] = route.split(' ') as [RouteRow['method'], string];
  return { method, path, role, kind, ...(body === undefined ? {} : { body }) };
}

const forward = { expire_after_minutes: 10, dst_port: 80, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };
const job = { description: 'x', script: ':put 1', make_backup: false, express_execute: true, needs_acknowledgement: true };
const schedule = { name: 'Another', time_zone: 'UTC', windows: [{ day: 'monday', from: 0, to: 60 }] };

const soon = new Date(Date.now() + 3_600_000).toISOString();
const target = { name: 'Another', channel: 'slack', address: { url: 'https://hooks.slack.com/services/T0/B0/another' } };

const campaign = { router_ids: ['{router_id}'], ...job };

export const PUBLIC_ROUTES: readonly RouteRow[] = [
  row('viewer', 'list', 'GET /api/routers'),
  row('admin', 'list', 'GET /api/revocations'),
  row('viewer', 'list', 'GET /api/router-moves'),
  row('viewer', 'record', 'GET /api/agents/{agent_id}/routers'),
  row('admin', 'record', 'POST /api/router-moves/{move_id}/approve'),
  row('admin', 'record', 'POST /api/router-moves/{move_id}/refuse'),
  row('viewer', 'record', 'GET /api/routers/{router_id}'),
  row('admin', 'record', 'PATCH /api/routers/{router_id}', { site_id: null }),
  row('admin', 'record', 'DELETE /api/routers/{router_id}'),
  row('admin', 'record', 'POST /api/routers/{router_id}/replace', { replaced_by: '{router_id}' }),
  row('viewer', 'record', 'GET /api/routers/{router_id}/oem'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/health'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/metadata'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/faults'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/availability'),
  row('viewer', 'list', 'GET /api/availability'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/history'),
  row('viewer', 'list', 'GET /api/faults'),
  row('viewer', 'list', 'GET /api/jobs'),
  row('viewer', 'list', 'GET /api/overview'),
  row('viewer', 'list', 'GET /api/views'),
  row('viewer', 'create', 'POST /api/views', { list: 'routers', name: 'Another', query: {}, shared: true }),
  row('viewer', 'record', 'GET /api/views/{view_id}'),
  row('viewer', 'record', 'PATCH /api/views/{view_id}', { name: 'Renamed' }),
  row('viewer', 'record', 'DELETE /api/views/{view_id}'),
  row('viewer', 'person', 'GET /api/me/preferences'),
  row('viewer', 'person', 'GET /api/me/contacts'),
  row('viewer', 'person', 'POST /api/me/contacts', { channel: 'sms', address: '+34600123456' }),
  row('viewer', 'person', 'PATCH /api/me/contacts/{contact_id}', { off: true }),
  row('viewer', 'person', 'DELETE /api/me/contacts/{contact_id}'),
  row('viewer', 'person', 'POST /api/me/contacts/{contact_id}/send-code'),
  row('viewer', 'person', 'POST /api/me/contacts/{contact_id}/verify', { code: '123456' }),
  row('viewer', 'person', 'POST /api/me/telegram-links'),
  row('viewer', 'person', 'GET /api/me/telegram-links/{link_id}'),
  row('viewer', 'person', 'DELETE /api/me/telegram-links/{link_id}'),
  row('viewer', 'person', 'GET /api/me/push-key'),
  row('viewer', 'person', 'GET /api/me/notification-settings'),
  row('viewer', 'person', 'PATCH /api/me/notification-settings', { locale: 'de' }),
  row('viewer', 'person', 'GET /api/me/unsubscriptions'),
  row('viewer', 'person', 'DELETE /api/me/unsubscriptions/{unsubscription_id}'),
  row('viewer', 'person', 'PUT /api/me/preferences', {}),
  { ...row('viewer', 'list', 'GET /api/search'), query: 'q=Depot' },
  row('viewer', 'list', 'GET /api/transient-forwarding'),
  row('viewer', 'list', 'GET /api/terminals'),
  row('viewer', 'record', 'GET /api/terminals/{terminal_id}'),
  row('operator', 'record', 'POST /api/terminals/{terminal_id}/tickets'),
  row('operator', 'record', 'DELETE /api/terminals/{terminal_id}'),
  row('admin', 'record', 'GET /api/terminals/{terminal_id}/recording'),
  row('operator', 'record', 'POST /api/routers/{router_id}/terminals', { level: 'read', reason: 'the uplink drops' }),
  row('viewer', 'list', 'GET /api/backups'),
  row('viewer', 'list', 'GET /api/backup-schedules'),
  row('admin', 'create', 'POST /api/backup-schedules', { time: '02:30' }),
  row('viewer', 'record', 'GET /api/backup-schedules/{backup_schedule_id}'),
  row('admin', 'record', 'PATCH /api/backup-schedules/{backup_schedule_id}', { keep: 7 }),
  row('admin', 'record', 'DELETE /api/backup-schedules/{backup_schedule_id}'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/jobs'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/jobs/{job_id}'),
  row('operator', 'record', 'DELETE /api/routers/{router_id}/jobs/{job_id}'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/jobs/{job_id}/timeline'),
  row('operator', 'record', 'GET /api/routers/{router_id}/jobs/{job_id}/changes'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/backups'),
  row('operator', 'record', 'POST /api/routers/{router_id}/backups', { parts: ['export'] }),
  row('operator', 'record', 'GET /api/routers/{router_id}/backups/{backup_id}'),
  row('operator', 'record', 'GET /api/routers/{router_id}/backups/{backup_id}/diff/{other_id}'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/jobs/{job_id}/deliveries'),
  row('operator', 'record', 'POST /api/routers/{router_id}/jobs/{job_id}/deliveries/{delivery_id}/resend'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/transient-forwarding'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/transient-forwarding/{id}'),
  row('viewer', 'record', 'GET /api/routers/{router_id}/transient-forwarding/{id}/connections'),
  row('operator', 'record', 'PATCH /api/routers/{router_id}/transient-forwarding/{id}', { expire_after_minutes: 60 }),
  row('operator', 'record', 'DELETE /api/routers/{router_id}/transient-forwarding/{id}'),
  row('operator', 'record', 'POST /api/routers/{router_id}/transient-forwarding', forward),
  row('operator', 'record', 'POST /api/asynchronous/{router_id}', job),
  row('viewer', 'list', 'GET /api/campaigns'),
  row('operator', 'create', 'POST /api/campaigns', campaign),
  row('viewer', 'record', 'GET /api/campaigns/{campaign_id}'),
  row('viewer', 'record', 'GET /api/campaigns/{campaign_id}/targets'),
  row('viewer', 'record', 'GET /api/campaigns/{campaign_id}/groups'),
  row('operator', 'record', 'POST /api/campaigns/{campaign_id}/pause'),
  row('operator', 'record', 'POST /api/campaigns/{campaign_id}/resume'),
  row('operator', 'record', 'POST /api/campaigns/{campaign_id}/cancel'),
  row('operator', 'record', 'POST /api/routers/{router_id}/ping', { count: 1 }),
  row('operator', 'record', 'POST /api/synchronous/{router_id}', { command: '/system/identity/print', parameters: '' }),
  row('viewer', 'stream', 'GET /api/events'),
  row('viewer', 'list', 'GET /arp/devices'),
  row('viewer', 'record', 'GET /arp/devices/{macAddress}'),
  row('operator', 'record', 'PUT /arp/devices/{macAddress}', { alias: 'Till' }),
  row('viewer', 'list', 'GET /api/sites'),
  row('admin', 'create', 'POST /api/sites', { name: 'Another' }),
  row('viewer', 'record', 'GET /api/sites/{site_id}'),
  row('admin', 'record', 'PATCH /api/sites/{site_id}', { name: 'Renamed' }),
  row('admin', 'record', 'DELETE /api/sites/{site_id}'),
  row('viewer', 'list', 'GET /api/members'),
  row('admin', 'create', 'POST /api/members', { email: 'another@example.org', role: 'viewer' }),
  row('admin', 'record', 'PATCH /api/members/{member_id}', { role: 'operator' }),
  row('admin', 'record', 'POST /api/members/{member_id}/password'),
  row('admin', 'record', 'DELETE /api/members/{member_id}'),
  row('admin', 'list', 'GET /api/invitations'),
  row('admin', 'record', 'DELETE /api/invitations/{invitation_id}'),
  row('viewer', 'list', 'GET /api/me'),
  row('viewer', 'list', 'GET /api/me/address'),
  row('viewer', 'person', 'POST /api/me/password', { current_password: 'x', new_password: 'correct horse' }),
  row('viewer', 'person', 'DELETE /api/me/membership'),
  row('admin', 'list', 'GET /api/clients'),
  row('admin', 'create', 'POST /api/clients', { name: 'Another', kind: 'web', redirect_uris: ['https://app.example.net/callback'] }),
  row('admin', 'record', 'GET /api/clients/{client_id}'),
  row('admin', 'record', 'PATCH /api/clients/{client_id}', { name: 'Renamed' }),
  row('admin', 'record', 'POST /api/clients/{client_id}/secret'),
  row('admin', 'record', 'DELETE /api/clients/{client_id}'),
  row('admin', 'list', 'GET /api/api-keys'),
  row('admin', 'create', 'POST /api/api-keys', { name: 'Another' }),
  row('admin', 'record', 'POST /api/api-keys/{key_id}/rotate', {}),
  row('admin', 'record', 'DELETE /api/api-keys/{key_id}'),
  row('admin', 'list', 'GET /api/webhook-secret'),
  row('admin', 'create', 'POST /api/webhook-secret', {}),
  row('viewer', 'list', 'GET /api/agents'),
  row('viewer', 'record', 'GET /api/agents/{agent_id}'),
  row('viewer', 'record', 'GET /api/agents/{agent_id}/sessions'),
  row('viewer', 'record', 'GET /api/agents/{agent_id}/history'),
  row('viewer', 'record', 'GET /api/agents/{agent_id}/link'),
  row('admin', 'record', 'PATCH /api/agents/{agent_id}', { name: 'Renamed' }),
  row('admin', 'record', 'DELETE /api/agents/{agent_id}'),
  row('admin', 'list', 'GET /api/enrol-tokens'),
  row('admin', 'create', 'POST /api/enrol-tokens', {}),
  row('admin', 'record', 'DELETE /api/enrol-tokens/{token_id}'),
  row('admin', 'list', 'GET /api/audit'),
  row('viewer', 'installation', 'GET /api/nodes'),
  row('viewer', 'installation', 'POST /api/nodes/{node_id}/drain'),
  row('viewer', 'installation', 'DELETE /api/nodes/{node_id}/drain'),
  row('admin', 'record', 'PUT /{group}', { name: 'Renamed' }),
  row('viewer', 'list', 'GET /api/groups'),
  row('admin', 'create', 'POST /api/groups', { name: 'Another' }),
  row('viewer', 'record', 'GET /api/groups/{group_id}'),
  row('viewer', 'record', 'GET /api/groups/{group_id}/reach'),
  row('viewer', 'create', 'POST /api/groups/explain', { kind: 'fault.wan_down', router_id: '{router_id}' }),
  row('admin', 'record', 'POST /api/groups/{group_id}/test'),
  row('admin', 'record', 'DELETE /api/groups/{group_id}'),
  row('viewer', 'list', 'GET /api/topics'),
  row('admin', 'create', 'POST /api/topics', { name: 'Another' }),
  row('viewer', 'record', 'GET /api/topics/{topic_id}'),
  row('admin', 'record', 'PATCH /api/topics/{topic_id}', { name: 'Renamed' }),
  row('admin', 'record', 'DELETE /api/topics/{topic_id}'),
  row('viewer', 'list', 'GET /api/schedules'),
  row('admin', 'create', 'POST /api/schedules', schedule),
  row('viewer', 'record', 'GET /api/schedules/{schedule_id}'),
  row('admin', 'record', 'PATCH /api/schedules/{schedule_id}', { name: 'Renamed' }),
  row('admin', 'record', 'DELETE /api/schedules/{schedule_id}'),
  row('viewer', 'list', 'GET /api/silences'),
  row('operator', 'create', 'POST /api/silences', { reason: 'Maintenance', until: soon }),
  row('operator', 'record', 'DELETE /api/silences/{silence_id}'),
  row('viewer', 'list', 'GET /api/threads'),
  row('viewer', 'record', 'GET /api/threads/{thread_id}'),
  row('viewer', 'record', 'GET /api/threads/{thread_id}/messages'),
  row('operator', 'record', 'POST /api/threads/{thread_id}/acknowledge', {}),
  row('viewer', 'list', 'GET /api/notifications'),
  row('viewer', 'list', 'GET /api/notification-channels'),
  row('viewer', 'list', 'GET /api/notification-targets'),
  row('admin', 'create', 'POST /api/notification-targets', target),
  row('viewer', 'record', 'GET /api/notification-targets/{target_id}'),
  row('admin', 'record', 'PATCH /api/notification-targets/{target_id}', { name: 'Renamed' }),
  row('admin', 'record', 'DELETE /api/notification-targets/{target_id}'),
  row('admin', 'record', 'POST /api/notification-targets/{target_id}/send-code'),
  row('admin', 'record', 'POST /api/notification-targets/{target_id}/verify', { code: '123456' }),
];

/** For service tokens only, and in no document. */
export const INTERNAL_ROUTES = ['/internal/status', '/internal/metrics', '/internal/nodes'] as const;
