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

/** How the verbs of the deeds are without their past. */
const VERBS = new Map(
  (
    'accepted accept, added add, approved approve, asked ask, came come, canceled cancel, changed change, closed close, confirmed confirm, ' +
    'connected connect, declined decline, drained drain, ended end, enrolled enrol, had have, invited invite, left leave, made make, moved move, ' +
    'named name, opened open, paused pause, pinged ping, read read, refused refuse, registered register, removed remove, renewed renew, ' +
    'replaced replace, resumed resume, revoked revoke, rotated rotate, ran run, saved save, sent send, set set, signed sign, silenced silence, ' +
    'started start, submitted submit, tested test, took take, withdrew withdraw'
  )
    .split(', ')
    .map((pair) => pair.split(' ') as [string, string]),
);

/**
 * What somebody did, or could not do.
 * @param result HTTP status of the answer
 * @returns the action itself when there are no words for it: a newer control plane
 */
export function deedOf(action: string, result = 200): string {
  const deed = DEEDS[action.replaceAll(/:\w+/g, ':')];
  if (deed === undefined) return action;
  const [verb = '', ...rest] = deed.split(' ');
  const plain = VERBS.get(verb);
  return whyNot(action, result) === undefined || plain === undefined ? deed : ['could not', plain, ...rest].join(' ');
}

const WHY_NOT: Record<number, string> = {
  400: 'the input was wrong',
  401: 'not signed in, or a wrong password',
  403: 'not allowed',
  404: 'there is no such record',
  409: 'the state did not allow it',
  412: 'it was changed meanwhile',
  413: 'the input was too long',
  422: 'the input was wrong',
  429: 'too many requests',
  503: 'agent, router or control plane not available',
};
const UNKNOWN = 504;

/** Why it was not done; undefined when it was done, or nobody knows whether. */
export function whyNot(action: string, result: number): string | undefined {
  if (result < 400 || result === UNKNOWN) return undefined;
  // The router's own refusal has the same status as a command that cannot be read.
  if (result === 422 && action.startsWith('POST /api/synchronous/')) return 'the command was refused';
  return WHY_NOT[result] ?? (result < 500 ? `refused (${result})` : `an error of the control plane (${result})`);
}

/** How it came out; nothing to say when it was done. */
export function outcomeOf(action: string, result: number): string | undefined {
  return result === UNKNOWN ? 'the outcome is unknown' : whyNot(action, result);
}

/** Who did it, for people: names that were removed meanwhile stay ids. */
export function actorOf({ actor_kind: kind, actor_name: name, actor_id: id }: AuditEntry): string {
  if (kind === 'enrol_token') return 'an enrolment token';
  if (kind === 'invitation') return 'the holder of an invitation';
  const who = name ?? id;
  return kind === 'api_key' ? `key ${who}` : who;
}
