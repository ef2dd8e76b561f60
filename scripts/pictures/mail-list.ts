import type { ThreadItem, ThreadView } from '../../server/outbound/notifications/texts/types.ts';
import { agentAway, CORE, endOf, FIRST_AT, HOUR, MADRID, MINUTE, named, storm, viewOf } from '../../test/harness/notify/views.ts';

/** Mails that people get most, and those that are hard to lay out. */

const causes = [{ code: 'no_answer', reason: 'refused', said: 'connection refused (ECONNREFUSED)' }] as const;
const offline = viewOf({ type: 'router', router: CORE, site: MADRID, fault: 'router_offline', detail: causes[0].said, causes });
const wan = viewOf({
  type: 'router',
  router: CORE,
  site: MADRID,
  fault: 'wan_down',
  detail: '',
  causes: [{ code: 'wan_partly', interfaces: 'ether1', left: 1, all: 2 }],
});

const routerAt = (index: number, more: Partial<ThreadItem> = {}): ThreadItem => ({
  text: '',
  fault: 'router_offline',
  router: named(`branch-${index}`),
  site: MADRID,
  openedAt: FIRST_AT + index * MINUTE,
  resolvedAt: null,
  ...more,
});

const site = viewOf(
  { type: 'site', site: MADRID, fault: 'router_offline', affected: 12, of: 14 },
  {
    items: Array.from({ length: 10 }, (_, index) =>
      routerAt(index, { text: 'timed out', causes: [{ code: 'no_answer', reason: 'timeout', said: '' }] }),
    ),
    itemCount: 12,
    openCount: 12,
    at: FIRST_AT + 15 * MINUTE,
  },
);

const digest = viewOf(
  { type: 'digest', from: FIRST_AT - 24 * HOUR, to: FIRST_AT },
  {
    kind: 'digest',
    severity: 'info',
    items: [
      { ...routerAt(1), view: endOf({ ...wan, firstAt: FIRST_AT - 9 * HOUR }, { kind: 'was_away' }) },
      { ...routerAt(2), view: viewOf({ type: 'router', router: named('branch-2'), site: MADRID, fault: 'rebooted', detail: '' }) },
      { ...routerAt(3), view: viewOf({ type: 'config', router: CORE, site: MADRID, added: 12, removed: 3 }) },
    ],
    itemCount: 3,
    openCount: 0,
  },
);

const HOSTILE = '<b>core</b> https://evil.example/login @everyone \u202Egnihtemos\u202C '.repeat(2);

export const MAILS: Readonly<Record<string, ThreadView>> = {
  opening: offline,
  wan,
  end: endOf(offline),
  agent: agentAway(),
  'agent-back': endOf(agentAway(), { stillOpen: 3, openCount: 3 }),
  storm: storm(37, 812),
  site,
  'site-end': endOf(site),
  flapping: { ...offline, flapping: { times: 3, withinMs: 40 * MINUTE, now: 'flapping' } },
  reminder: { ...offline, kind: 'reminder', at: FIRST_AT + 4 * HOUR },
  escalation: { ...offline, kind: 'escalation', at: FIRST_AT + 30 * MINUTE },
  taken: { ...offline, kind: 'acknowledged', acknowledgedBy: 'ana@example.org' },
  digest,
  jobs: viewOf(
    { type: 'jobs', router: CORE, site: MADRID, outcomes: { failed: 2, expired: 1 }, detail: 'Upgrade to 7.16' },
    { severity: 'warning' },
  ),
  campaign: viewOf(
    { type: 'campaign', campaign: named('Upgrade 7.16'), change: 'aborted', counts: { failed: 5, completed: 10, skipped: 485 } },
    { severity: 'warning', siteTimeZone: null },
  ),
  certificate: viewOf(
    { type: 'server', warning: 'certificate', detail: '', causes: [{ code: 'certificate_ends', at: FIRST_AT + 240 * HOUR }] },
    { severity: 'warning', siteTimeZone: null },
  ),
  disk: viewOf(
    { type: 'server', warning: 'disk', detail: '', causes: [{ code: 'server_disk', megabytes: 512 }] },
    { severity: 'warning', siteTimeZone: null },
  ),
  contact: viewOf({ type: 'server', warning: 'contact_lost', detail: '', affected: 480, of: 512 }, { siteTimeZone: null }),
  delivery: viewOf(
    { type: 'delivery', channel: 'slack', address: 'https://hooks.slack.com/…/•••', reason: 'gone', to: 'Ops room', group: 'On call' },
    { severity: 'warning', siteTimeZone: null },
  ),
  test: viewOf(
    { type: 'test', group: named('Night shift'), by: 'ana@example.org' },
    { kind: 'test', severity: 'info', siteTimeZone: null },
  ),
  hostile: viewOf({ type: 'router', router: named(HOSTILE), site: named(HOSTILE), fault: 'wan_down', detail: HOSTILE }, { team: HOSTILE }),
};
