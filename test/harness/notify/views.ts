import { writeText } from '../../../server/outbound/notifications/texts/write.ts';
import type { Locale, Named, Reader, ThreadItem, ThreadSubject, ThreadView } from '../../../server/outbound/notifications/texts/types.ts';
import type { OutgoingMessage } from '../../../server/outbound/notifications/channels/types.ts';

/** Threads as the pipeline tells them, for tests of texts and channels. */

/** 08:31 in Madrid, 07:31 in London, 20:31 in Auckland. */
export const FIRST_AT = Date.UTC(2026, 10, 23, 7, 31);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export const named = (name: string): Named => ({ id: `id-${name}`, name });
export const MADRID = named('Depot Madrid');
export const CORE = named('core-1');

export const reader = (locale: Locale = 'en', timeZone = 'Europe/Madrid'): Reader => ({ locale, timeZone });

/** An opening of 25 s ago, in Madrid. */
export function viewOf(subject: ThreadSubject, changes: Partial<ThreadView> = {}): ThreadView {
  return {
    id: '0199c7a0-0000-7000-8000-000000000001',
    revision: 1,
    kind: 'open',
    severity: 'critical',
    subject,
    items: [],
    itemCount: 1,
    openCount: 1,
    firstAt: FIRST_AT,
    lastAt: FIRST_AT,
    endedAt: null,
    flapping: null,
    stillOpen: 0,
    acknowledgedBy: null,
    siteTimeZone: 'Europe/Madrid',
    team: 'Northwind',
    group: 'On call',
    url: 'https://signalbox.example.com/notifications/threads/0199c7a0-0000-7000-8000-000000000001',
    at: FIRST_AT + 25_000,
    ...changes,
  };
}

/** The end of a thread, after 13 minutes. */
export function endOf(view: ThreadView, changes: Partial<ThreadView> = {}): ThreadView {
  const endedAt = view.firstAt + 13 * MINUTE;
  return { ...view, kind: 'resolve', revision: view.revision + 1, endedAt, openCount: 0, at: endedAt + 10_000, ...changes };
}

export const agentAway = (routers = 500): ThreadView =>
  viewOf(
    { type: 'agent', agent: named('a-madrid'), site: MADRID, routers },
    { itemCount: routers, openCount: routers, items: routerItems(Math.min(routers, 10)) },
  );

export const routerOffline = (name = 'core-1'): ThreadView =>
  viewOf({ type: 'router', router: named(name), site: MADRID, fault: 'router_offline', detail: '' });

/** Half of all sites of a large team at once. */
export const storm = (sites = 37, routers = 812): ThreadView =>
  viewOf(
    { type: 'storm', sites, routers, first: 'Depot Madrid' },
    { itemCount: routers, openCount: routers, items: siteItems(10), siteTimeZone: null },
  );

function routerItems(count: number): ThreadItem[] {
  return Array.from({ length: count }, (_, index) => ({
    text: '',
    fault: 'agent_offline',
    router: named(`branch-${index + 1}`),
    site: MADRID,
    openedAt: FIRST_AT,
    resolvedAt: null,
  }));
}

function siteItems(count: number): ThreadItem[] {
  return Array.from({ length: count }, (_, index) => ({
    text: '',
    router: null,
    site: named(`Depot ${index + 1}`),
    routers: 60 - index,
    openedAt: FIRST_AT + index * 1000,
    resolvedAt: null,
  }));
}

/** One thread of each subject. */
export const SUBJECTS: readonly ThreadSubject[] = [
  { type: 'agent', agent: named('a-madrid'), site: MADRID, routers: 500 },
  { type: 'router', router: CORE, site: MADRID, fault: 'wan_down', detail: 'ether1 has no link' },
  { type: 'site', site: MADRID, fault: 'router_offline', affected: 12, of: 14 },
  { type: 'agent_routers', agent: named('a-madrid'), fault: 'router_offline', affected: 12, of: 14 },
  { type: 'jobs', router: CORE, site: MADRID, outcomes: { failed: 2, expired: 1 }, detail: 'syntax error (line 3)' },
  { type: 'campaign', campaign: named('Upgrade 7.15'), change: 'aborted', counts: { failed: 5, completed: 10 } },
  { type: 'forward', forward: named('plc'), router: CORE, change: 'lost' },
  { type: 'config', router: CORE, site: MADRID, added: 12, removed: 3 },
  { type: 'agent_revoked', agent: named('a-madrid'), site: MADRID },
  { type: 'delivery', channel: 'slack', address: 'https://hooks.slack.com/…/•••', reason: 'gone', to: 'Ops room', group: 'On call' },
  { type: 'server', warning: 'contact_lost', detail: '', affected: 480, of: 512 },
  { type: 'server', warning: 'certificate', detail: 'It ends in 6 days.' },
  { type: 'storm', sites: 37, routers: 812, first: 'Depot Madrid' },
  { type: 'several', of: 'job', count: 500, routers: 500, outcomes: { failed: 450, expired: 50 } },
  { type: 'digest', from: FIRST_AT - HOUR, to: FIRST_AT },
  { type: 'held_back', messages: 12 },
  { type: 'test', group: named('Night shift'), by: 'Ana Ruiz' },
  { type: 'proof', code: '493017', by: 'Ana Ruiz', validMs: 10 * MINUTE },
];

/** As long as a real one. */
export const ACKNOWLEDGE_URL = `https://signalbox.example.com/mail/acknowledge/${'x'.repeat(240)}.${'y'.repeat(43)}`;

/** A message as a channel gets it. */
export function messageOf(thread: ThreadView, changes: Partial<OutgoingMessage> & { locale?: Locale } = {}): OutgoingMessage {
  const { locale = 'en', ...rest } = changes;
  return {
    id: `0199c7a1-0000-7000-8000-00000000000${thread.revision}`,
    thread,
    text: { ...writeText(thread, reader(locale)), acknowledgeUrl: thread.endedAt === null ? ACKNOWLEDGE_URL : null },
    previousIds: [],
    isTest: thread.kind === 'test',
    ...rest,
  };
}

/** What a router can be called when somebody means harm. */
export const HOSTILE_NAMES: readonly string[] = [
  'core\r\nBcc: everybody@example.com',
  '\u202Egnihtemos\u202C',
  'a\u2028b\u2029c\u0085d',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '&lt;b&gt; &amp; <!channel> <@U123> <https://evil.example|login>',
  '[login](https://evil.example) *bold* _it_ `code` ~s~',
  'http://evil.example/?x=1',
  'www.evil.com',
  'evil.com/path',
  'user@evil.com @everyone @channel',
  'javascript:alert(1)',
  '{{7*7}} ${7*7} #{7*7} %s %n',
  '\u200B\u200D\uFEFF\u2060',
  `Z${'\u0301'.repeat(200)}`,
  '🚀'.repeat(100),
  '\uD800 broken',
  'x'.repeat(100_000),
  '   ',
  '',
  '<at>everyone</at>',
  '</td></table><!-- ',
  '=cmd|calc!A1',
  'evil。com',
];
