import type { AuditEntry } from '../../../../../client/browser.ts';

export const words = {
  note: 'Every request that may change something, also one that was refused, and every sign-in. Nobody can change the log.',
  filter: {
    label: 'Audit log',
    who: 'Who',
    everybody: 'everybody',
    what: 'What',
    from: 'From',
    to: 'To',
    days: (zone: string) => `Days of ${zone}`,
    clear: 'Clear',
  },
  /** What people ask for. */
  action: {
    all: 'everything',
    signIns: 'sign-ins',
    failedSignIns: 'failed sign-ins',
    commands: 'commands',
    jobs: 'jobs',
    campaigns: 'campaigns',
    forwards: 'forwards',
    keys: 'keys made and rotated',
    invitations: 'invitations and password links',
    changes: 'changes',
    removals: 'removals and revocations',
  },
  table: 'Audit log',
  column: { when: 'When', who: 'Who did what', target: 'Of what', from: 'From', outcome: 'Outcome' },
  noMatch: { title: 'Nothing matches.', text: 'Choose a longer time, or everybody.' },
  empty: { title: 'Nothing has happened yet.', text: 'Whoever changes something, or signs in, is listed here.' },
  device: (mac: string) => `device ${mac}`,
  done: 'done',
};

/** What somebody did, by the action of the entry; placeholders of the path have any name. */
const DEEDS: Record<string, string> = {
  login: 'signed in',
  'failed login': 'tried to sign in with a wrong password',
  logout: 'signed out',
  'accepted invitation': 'accepted an invitation',
  'declined invitation': 'declined an invitation',
  'set password by link': 'set a password by a link',
  'made the first account': 'made the first account',
  'took over by link': 'took a notification over by a link',
  'proved chat by link': 'confirmed an own Telegram chat by a link',
  enrol: 'enrolled an agent',
  'refused enrol': 'tried to enrol an agent',
  'router moved': 'moved a router to another agent',
  'router move requested': 'asked for a router of another agent',
  'POST /api/router-moves/:/approve': 'approved a move of a router',
  'POST /api/router-moves/:/refuse': 'refused a move of a router',
  'PATCH /api/routers/:': 'changed a router',
  'DELETE /api/routers/:': 'removed a router',
  'POST /api/routers/:/replace': 'replaced a router by another',
  'POST /api/routers/:/ping': 'pinged a router',
  'POST /api/routers/:/backups': 'took a backup',
  'POST /api/views': 'saved a view',
  'PATCH /api/views/:': 'changed a view',
  'DELETE /api/views/:': 'removed a view',
  'PUT /api/me/preferences': 'changed their preferences',
  'POST /api/me/password': 'changed their password',
  'DELETE /api/me/membership': 'left the team',
  'POST /api/backup-schedules': 'made a backup schedule',
  'PATCH /api/backup-schedules/:': 'changed a backup schedule',
  'DELETE /api/backup-schedules/:': 'removed a backup schedule',
  'POST /api/asynchronous/:': 'submitted a job',
  'DELETE /api/routers/:/jobs/:': 'took back a job',
  'POST /api/routers/:/jobs/:/deliveries/:/resend': 'sent a job update again',
  'POST /api/synchronous/:': 'ran a command',
  'POST /api/campaigns': 'started a campaign',
  'POST /api/campaigns/:/pause': 'paused a campaign',
  'POST /api/campaigns/:/resume': 'resumed a campaign',
  'POST /api/campaigns/:/cancel': 'canceled a campaign',
  'POST /api/routers/:/transient-forwarding': 'opened a forward',
  'PATCH /api/routers/:/transient-forwarding/:': 'changed a forward',
  'DELETE /api/routers/:/transient-forwarding/:': 'closed a forward',
  'GET /api/routers/:/transient-forwarding/:/connect': 'connected to a forward',
  'POST /api/routers/:/terminals': 'opened a terminal',
  'POST /api/terminals/:/tickets': 'came back to a terminal',
  'DELETE /api/terminals/:': 'ended a terminal',
  'GET /api/terminals/:/recording': 'read the recording of a terminal',
  'PUT /arp/devices/:': 'named a device',
  'POST /api/sites': 'made a site',
  'PATCH /api/sites/:': 'changed a site',
  'DELETE /api/sites/:': 'removed a site',
  'POST /api/members': 'invited a person',
  'PATCH /api/members/:': 'changed a member',
  'POST /api/members/:/password': 'made a password link',
  'DELETE /api/members/:': 'removed a member',
  'DELETE /api/invitations/:': 'withdrew an invitation',
  'POST /api/clients': 'registered an application',
  'PATCH /api/clients/:': 'changed an application',
  'POST /api/clients/:/secret': 'renewed the secret of an application',
  'DELETE /api/clients/:': 'removed an application',
  'POST /api/api-keys': 'made an API key',
  'POST /api/api-keys/:/rotate': 'rotated an API key',
  'DELETE /api/api-keys/:': 'revoked an API key',
  'POST /api/webhook-secret': 'renewed the webhook secret',
  'PATCH /api/agents/:': 'changed an agent',
  'DELETE /api/agents/:': 'revoked an agent',
  'POST /api/enrol-tokens': 'made an enrolment token',
  'DELETE /api/enrol-tokens/:': 'revoked an enrolment token',
  'POST /api/nodes/:/drain': 'drained a control plane',
  'DELETE /api/nodes/:/drain': 'had a control plane take work again',
  'PUT /:': 'changed a notification group',
  'POST /api/notification-targets': 'added an address for notifications',
  'PATCH /api/notification-targets/:': 'changed an address for notifications',
  'DELETE /api/notification-targets/:': 'removed an address for notifications',
  'POST /api/notification-targets/:/send-code': 'sent a code to an address for notifications',
  'POST /api/notification-targets/:/verify': 'confirmed an address for notifications',
  'POST /api/me/contacts': 'added an own address',
  'PATCH /api/me/contacts/:': 'changed an own address',
  'DELETE /api/me/contacts/:': 'removed an own address',
  'POST /api/me/contacts/:/send-code': 'sent a code to an own address',
  'POST /api/me/contacts/:/verify': 'confirmed an own address',
  'POST /api/me/telegram-links': 'asked for a link to the Telegram bot',
  'DELETE /api/me/telegram-links/:': 'took a link to the Telegram bot back',
  'PATCH /api/me/notification-settings': 'changed how notifications come',
  'DELETE /api/me/unsubscriptions/:': 'asked for notifications again',
  'POST /api/threads/:/acknowledge': 'took over a thread of notifications',
  'POST /api/silences': 'silenced notifications',
  'DELETE /api/silences/:': 'ended a silence',
  'POST /api/groups': 'made a notification group',
  'POST /api/groups/explain': 'asked who would be told',
  'POST /api/groups/:/test': 'tested a notification group',
  'DELETE /api/groups/:': 'removed a notification group',
  'POST /api/topics': 'made a topic',
  'PATCH /api/topics/:': 'changed a topic',
  'DELETE /api/topics/:': 'removed a topic',
  'POST /api/schedules': 'made a schedule',
  'PATCH /api/schedules/:': 'changed a schedule',
  'DELETE /api/schedules/:': 'removed a schedule',
};

/** Whether there are words for the action. */
export function isKnownDeed(action: string): boolean {
  return deedOf(action) !== action;
}

/** @returns the action itself when there are no words for it: a newer control plane */
export function deedOf(action: string): string {
  return DEEDS[action.replaceAll(/:\w+/g, ':')] ?? action;
}

/** How it came out; nothing to say when it was done. */
export function outcomeOf(result: number): string | undefined {
  if (result < 400) return undefined;
  if (result === 401) return 'refused: not signed in, or a wrong password';
  if (result === 403) return 'refused: the role is too low';
  if (result === 404) return 'refused: there is no such record';
  if (result === 422) return 'refused: wrong input';
  if (result === 409) return 'refused: it did not fit the state';
  if (result === 429) return 'refused: too many requests';
  return result < 500 ? `refused (${result})` : `failed (${result})`;
}

/** Who did it, for people: names that were removed meanwhile stay ids. */
export function actorOf({ actor_kind: kind, actor_name: name, actor_id: id }: AuditEntry): string {
  if (kind === 'enrol_token') return 'an enrolment token';
  if (kind === 'invitation') return 'the holder of an invitation';
  const who = name ?? id;
  return kind === 'api_key' ? `key ${who}` : who;
}
