import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { HttpDeps } from '../../../server/outbound/notifications/channels/http.ts';
import type { OutgoingMessage, SendResult } from '../../../server/outbound/notifications/channels/types.ts';
import { LOCALES } from '../../../server/outbound/notifications/texts/types.ts';
import type { MessageKind } from '../../../server/outbound/notifications/texts/types.ts';
import type { ResolveName } from '../../../server/platform/outgoing/lookup.ts';
import { Poster } from '../../../server/platform/outgoing/poster.ts';
import type { Message } from '../../../server/platform/outgoing/poster.ts';
import { PROVIDERS, providerCase } from '../../harness/notify/every-channel.ts';
import type { ProviderCase, ProviderName } from '../../harness/notify/every-channel.ts';
import type { ProviderRequest } from '../../harness/notify/providers.ts';
import { ProviderStandIn } from '../../harness/notify/stand-in.ts';
import type { ProviderReply } from '../../harness/notify/stand-in.ts';
import { agentAway, endOf, FIRST_AT, HOSTILE_NAMES, HOUR, messageOf, named, storm, SUBJECTS, viewOf } from '../../harness/notify/views.ts';

/** Every channel against what its provider publishes: shapes, limits and errors. */

const nobody: ResolveName = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
const KINDS: readonly MessageKind[] = [
  'open',
  'update',
  'resolve',
  'reminder',
  'still_open',
  'was_away',
  'escalation',
  'acknowledged',
  'test',
];

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function provider({ check, accepted }: ProviderCase, deadlineMs = 10_000): Promise<{ standIn: ProviderStandIn; deps: HttpDeps }> {
  const standIn = await ProviderStandIn.start(check, accepted);
  const poster = new Poster({ rules: { allowLoopback: true }, resolve: nobody, deadlineMs });
  closers.push(
    () => standIn.close(),
    () => poster.close(),
  );
  return { standIn, deps: { poster, now: Date.now } };
}

/** What a channel would send, without sending it. */
async function requestFor(one: ProviderCase, message: OutgoingMessage): Promise<ProviderRequest> {
  let sent: Message | undefined;
  const ask = (request: Message): Promise<{ outcome: 'stopped' }> => {
    sent = request;
    return Promise.resolve({ outcome: 'stopped' });
  };
  await one.send(message, 'https://provider.example.com', { poster: { ask }, now: Date.now });
  const { pathname, search } = new URL(sent!.url);
  const headers = { 'content-type': 'application/json', ...sent!.headers };
  return { method: 'POST', path: `${pathname}${search}`, headers, body: Buffer.from(sent!.body) };
}

describe.each(PROVIDERS)('$name', (one) => {
  test('takes the opening and the end of 812 routers, with the right numbers', async () => {
    const { standIn, deps } = await provider(one);
    for (const thread of [storm(), endOf(storm())]) {
      expect(await one.send(messageOf(thread), standIn.url, deps)).toMatchObject({ outcome: 'sent' });
    }
    expect(standIn.problems).toEqual([]);
    const [opening] = standIn.requests;
    const shown = one.shown(opening!);
    expect(shown).toContain('37 sites, 812 routers affected');
    if (one.name === 'sms' || one.name === 'whatsapp') return;
    const rows = shown.match(/Depot \d+: \d+ routers/g) ?? [];
    const hidden = Number(/and (\d+) more/.exec(shown)?.[1]);
    expect(rows.length + hidden).toBe(812);
  });

  test('takes every subject, kind and language', async () => {
    for (const subject of SUBJECTS) {
      for (const kind of KINDS) {
        const ended = kind === 'resolve' || kind === 'was_away';
        const view = viewOf(subject, {
          kind,
          endedAt: ended ? FIRST_AT + HOUR : null,
          acknowledgedBy: kind === 'acknowledged' ? 'Ana' : null,
        });
        for (const locale of LOCALES) {
          expect(one.check(await requestFor(one, messageOf(view, { locale }))), `${subject.type} ${kind} ${locale}`).toEqual([]);
        }
      }
    }
  });

  test('carries the code that proves an address, in every language', async () => {
    const view = viewOf({ type: 'proof', code: '493017', by: 'ana.ruiz@depot-madrid.example.com', validMs: 10 * 60_000 }, { kind: 'test' });
    for (const locale of LOCALES) expect(one.shown(await requestFor(one, messageOf(view, { locale }))), locale).toContain('493017');
  });

  test('takes whatever routers are called, and never gets a longer message than it takes', async () => {
    const name = fc.oneof(
      fc.constantFrom(...HOSTILE_NAMES),
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.constantFrom('&<>"\''.repeat(100), '\\"'.repeat(200), '水'.repeat(300), '🚀'.repeat(150)),
    );
    await fc.assert(
      fc.asyncProperty(name, fc.constantFrom(...SUBJECTS), fc.integer({ min: 1, max: 5000 }), async (name, subject, count) => {
        const evil = named(name);
        const item = { text: name, router: evil, site: evil, openedAt: FIRST_AT, resolvedAt: null };
        const changes = {
          items: Array.from({ length: Math.min(count, 10) }, () => item),
          itemCount: count,
          acknowledgedBy: name,
          team: name,
        };
        const hostile = { ...subject, ...('router' in subject ? { router: evil, site: evil, detail: name } : {}) } as typeof subject;
        expect(one.check(await requestFor(one, messageOf(viewOf(hostile, changes))))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  test.each<[string, ProviderReply, Partial<SendResult>]>([
    ['500', { status: 500 }, { outcome: 'retry', error: 'unavailable' }],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '20' } }, { outcome: 'retry', retryAfterMs: 20_000 }],
    [
      '429 with Retry-After',
      { status: 429, headers: { 'retry-after': '30' } },
      { outcome: 'retry', error: 'rate_limited', retryAfterMs: 30_000 },
    ],
    ['429 with ratelimit-reset', { status: 429, headers: { 'ratelimit-reset': '8' } }, { outcome: 'retry', retryAfterMs: 8000 }],
    ['413', { status: 413 }, { outcome: 'never', error: 'too_large' }],
    ['302', { status: 302, headers: { location: 'https://elsewhere.example.com' } }, { outcome: 'never', error: 'redirected' }],
    ['no answer', 'hang', { outcome: 'retry', error: 'timed_out' }],
    ['a cut connection', 'cut', { outcome: 'retry', error: 'connection_lost' }],
  ])('%s is sorted', async (_name, reply, result) => {
    const { standIn, deps } = await provider(one, reply === 'hang' ? 300 : undefined);
    standIn.reply = reply;
    expect(await one.send(messageOf(agentAway()), standIn.url, deps)).toMatchObject(result);
    expect(standIn.problems).toEqual([]);
  });

  test('never shows its secret, whatever the provider repeats', async () => {
    const { standIn, deps } = await provider(one);
    const request = await requestFor(one, messageOf(agentAway()));
    const echo = `${request.path} ${JSON.stringify(request.headers)} ${request.body.toString('latin1').slice(0, 120)}`;
    for (const status of [400, 401, 403, 500]) {
      standIn.reply = { status, body: echo };
      const result = await one.send(messageOf(agentAway()), standIn.url, deps);
      const { detail } = result as { detail: string };
      expect(detail.length).toBeLessThanOrEqual(300);
      expect(detail).not.toMatch(/s3cr3t|AA-secret|r0ut1ngk3y/);
      expect(one.name === 'web_push' || detail.startsWith('HTTP ')).toBe(true);
    }
  });

  test('an attempt is stopped with the process', async () => {
    const { standIn, deps } = await provider(one);
    standIn.reply = 'hang';
    const stop = new AbortController();
    const result = one.send(messageOf(agentAway()), standIn.url, deps, stop.signal);
    stop.abort();
    expect(await result).toEqual({ outcome: 'stopped' });
  });
});

/** What only one provider says. */
test.each<[ProviderName, string, ProviderReply, SendResult]>([
  [
    'slack',
    'gone',
    { status: 404, body: 'no_service' },
    { outcome: 'never', error: 'gone', detail: 'HTTP 404: no_service', addressOff: 'gone' },
  ],
  [
    'slack',
    'archived',
    { status: 410, body: 'channel_is_archived' },
    { outcome: 'never', error: 'gone', detail: 'HTTP 410: channel_is_archived', addressOff: 'gone' },
  ],
  [
    'slack',
    'invalid credentials',
    { status: 403, body: 'invalid_token' },
    { outcome: 'never', error: 'gone', detail: 'HTTP 403: invalid_token', addressOff: 'gone' },
  ],
  [
    'slack',
    'forbidden',
    { status: 403, body: 'action_prohibited' },
    { outcome: 'never', error: 'refused', detail: 'HTTP 403: action_prohibited' },
  ],
  [
    'slack',
    'invalid',
    { status: 400, body: 'invalid_payload' },
    { outcome: 'never', error: 'refused', detail: 'HTTP 400: invalid_payload' },
  ],
  ['teams', 'gone', { status: 404 }, { outcome: 'never', error: 'gone', detail: 'HTTP 404', addressOff: 'gone' }],
  [
    'teams',
    'another signature',
    { status: 401 },
    { outcome: 'never', error: 'unauthorized', detail: 'HTTP 401', addressOff: 'key_refused' },
  ],
  [
    'telegram',
    'blocked',
    { status: 403, body: { ok: false, error_code: 403, description: 'Forbidden: bot was blocked by the user' } },
    { outcome: 'never', error: 'gone', detail: 'HTTP 403: Forbidden: bot was blocked by the user', addressOff: 'blocked' },
  ],
  [
    'telegram',
    'too fast',
    { status: 429, body: { ok: false, description: 'Too Many Requests: retry after 35', parameters: { retry_after: 35 } } },
    { outcome: 'retry', error: 'rate_limited', detail: 'HTTP 429: Too Many Requests: retry after 35', retryAfterMs: 35_000 },
  ],
  [
    'telegram',
    'wrong token',
    { status: 401, body: { ok: false, description: 'Unauthorized' } },
    { outcome: 'config', error: 'unauthorized', detail: 'HTTP 401: Unauthorized' },
  ],
  [
    'telegram',
    'no such chat',
    { status: 400, body: { ok: false, description: 'Bad Request: chat not found' } },
    { outcome: 'never', error: 'refused', detail: 'HTTP 400: Bad Request: chat not found' },
  ],
  ['telegram', 'no answer of its own', { status: 200, body: '<html>' }, { outcome: 'retry', error: 'answer_invalid', detail: 'HTTP 200' }],
  [
    'pagerduty',
    'wrong key',
    { status: 400, body: { status: 'invalid event', message: 'Event object is invalid', errors: ["'routing_key' is invalid"] } },
    {
      outcome: 'never',
      error: 'refused',
      detail: "HTTP 400: Event object is invalid; 'routing_key' is invalid",
      addressOff: 'key_refused',
    },
  ],
  [
    'pagerduty',
    'invalid event',
    { status: 400, body: { status: 'invalid event', message: 'Event object is invalid', errors: ["'summary' is missing"] } },
    { outcome: 'never', error: 'refused', detail: "HTTP 400: Event object is invalid; 'summary' is missing" },
  ],
  ['pagerduty', 'too fast', { status: 429 }, { outcome: 'retry', error: 'rate_limited', detail: 'HTTP 429' }],
  [
    'ntfy',
    'forbidden',
    { status: 403, body: { code: 40_301, http: 403, error: 'forbidden' } },
    { outcome: 'config', error: 'unauthorized', detail: 'HTTP 403: {"code":40301,"http":403,"error":"forbidden"}' },
  ],
  ['ntfy', 'full', { status: 507 }, { outcome: 'retry', error: 'unavailable', detail: 'HTTP 507' }],
  [
    'ntfy',
    'no answer of its own',
    { status: 200, body: 'hello' },
    { outcome: 'retry', error: 'answer_invalid', detail: 'HTTP 200: hello' },
  ],
  ['gotify', 'wrong token', { status: 401 }, { outcome: 'config', error: 'unauthorized', detail: 'HTTP 401' }],
  [
    'sms',
    'unsubscribed',
    { status: 400, body: { code: 21_610, message: 'Attempt to send to unsubscribed recipient', status: 400 } },
    { outcome: 'never', error: 'gone', detail: 'HTTP 400: 21610 Attempt to send to unsubscribed recipient', addressOff: 'unsubscribed' },
  ],
  [
    'sms',
    'no such number',
    { status: 400, body: { code: 21_211, message: "Invalid 'To' Phone Number", status: 400 } },
    { outcome: 'never', error: 'gone', detail: "HTTP 400: 21211 Invalid 'To' Phone Number", addressOff: 'no_account' },
  ],
  [
    'sms',
    'a number that is repeated',
    { status: 400, body: { code: 21_408, message: "Permission for '+34600000000' (34600000000) not enabled", status: 400 } },
    { outcome: 'never', error: 'refused', detail: "HTTP 400: 21408 Permission for '•••' (•••) not enabled" },
  ],
  [
    'sms',
    'wrong credentials',
    { status: 401, body: { code: 20_003, message: 'Authenticate', status: 401 } },
    { outcome: 'config', error: 'unauthorized', detail: 'HTTP 401: 20003 Authenticate' },
  ],
  [
    'sms',
    'too fast',
    { status: 429, body: { code: 20_429, message: 'Too many requests', status: 429 } },
    { outcome: 'retry', error: 'rate_limited', detail: 'HTTP 429: 20429 Too many requests' },
  ],
  [
    'whatsapp',
    'no account',
    { status: 400, body: { error: { code: 131_026, message: '(#131026) Message undeliverable' } } },
    { outcome: 'never', error: 'gone', detail: 'HTTP 400: (#131026) Message undeliverable', addressOff: 'no_account' },
  ],
  [
    'whatsapp',
    'a number that is repeated',
    { status: 400, body: { error: { code: 100, message: '(#100) Invalid recipient 34600000000' } } },
    { outcome: 'never', error: 'refused', detail: 'HTTP 400: (#100) Invalid recipient •••' },
  ],
  [
    'whatsapp',
    'too fast for one person',
    { status: 400, body: { error: { code: 131_056, message: '(#131056) pair rate limit' } } },
    { outcome: 'retry', error: 'rate_limited', detail: 'HTTP 400: (#131056) pair rate limit', retryAfterMs: 6000 },
  ],
  [
    'whatsapp',
    'too fast',
    { status: 400, body: { error: { code: 130_429, message: '(#130429) Rate limit hit' } } },
    { outcome: 'retry', error: 'rate_limited', detail: 'HTTP 400: (#130429) Rate limit hit' },
  ],
  [
    'whatsapp',
    'an expired token',
    { status: 401, body: { error: { code: 190, message: 'Session has expired' } } },
    { outcome: 'config', error: 'unauthorized', detail: 'HTTP 401: Session has expired' },
  ],
  [
    'whatsapp',
    'no such template',
    { status: 404, body: { error: { code: 132_001, message: 'Template name does not exist' } } },
    { outcome: 'config', error: 'unauthorized', detail: 'HTTP 404: Template name does not exist' },
  ],
  ['web_push', 'gone', { status: 410 }, { outcome: 'never', error: 'gone', detail: 'HTTP 410', addressOff: 'gone' }],
  ['web_push', 'unknown', { status: 404 }, { outcome: 'never', error: 'gone', detail: 'HTTP 404', addressOff: 'gone' }],
  ['web_push', 'another key', { status: 403 }, { outcome: 'never', error: 'unauthorized', detail: 'HTTP 403', addressOff: 'key_refused' }],
])('%s: %s', async (name, _what, reply, result) => {
  const one = providerCase(name);
  const { standIn, deps } = await provider(one);
  standIn.reply = reply;
  expect(await one.send(messageOf(agentAway()), standIn.url, deps)).toEqual(result);
  expect(standIn.problems).toEqual([]);
});

describe('a thread is one thing where the provider can join messages', () => {
  const bodyOf = async (name: ProviderName, message: OutgoingMessage): Promise<Record<string, unknown>> =>
    JSON.parse((await requestFor(providerCase(name), message)).body.toString()) as Record<string, unknown>;

  test('PagerDuty: the end of a storm resolves its incident and opens one for each router that stays offline', async () => {
    const item = { text: '', fault: 'router_offline' as const, router: named('depot-1'), site: null, openedAt: FIRST_AT };
    const over = endOf(storm(2, 9), {
      stillOpen: 1,
      items: [
        { ...item, threadId: 'still', resolvedAt: null },
        { ...item, threadId: 'over', resolvedAt: FIRST_AT + HOUR },
      ],
    });
    const one = providerCase('pagerduty');
    const { standIn, deps } = await provider(one);
    expect(await one.send(messageOf(over), standIn.url, deps)).toMatchObject({ outcome: 'sent' });
    expect(standIn.problems).toEqual([]);
    expect(standIn.requests.map(({ body }) => JSON.parse(body.toString()) as unknown)).toMatchObject([
      { event_action: 'trigger', dedup_key: 'signalbox-still', payload: { source: 'depot-1' } },
      { event_action: 'resolve', dedup_key: `signalbox-${over.id}` },
    ]);
  });

  test.each(SUBJECTS.filter((subject) => 'agent' in subject))('PagerDuty: $type without a site happens at its agent', async (subject) => {
    const nowhere = 'site' in subject ? { ...subject, site: null } : subject;
    expect(await bodyOf('pagerduty', messageOf(viewOf(nowhere)))).toMatchObject({ payload: { source: 'a-madrid' } });
  });

  test('PagerDuty: one incident is triggered, acknowledged and resolved', async () => {
    const away = agentAway();
    const key = `signalbox-${away.id}`;
    expect(await bodyOf('pagerduty', messageOf(away))).toMatchObject({
      event_action: 'trigger',
      dedup_key: key,
      payload: { severity: 'critical' },
    });
    expect(await bodyOf('pagerduty', messageOf({ ...away, kind: 'update' }))).toMatchObject({ event_action: 'trigger', dedup_key: key });
    const taken = { ...away, kind: 'acknowledged' as const, acknowledgedBy: 'Ana Ruiz' };
    expect(await bodyOf('pagerduty', messageOf(taken))).toEqual({
      routing_key: expect.anything(),
      event_action: 'acknowledge',
      dedup_key: key,
    });
    expect(await bodyOf('pagerduty', messageOf(endOf(away)))).toMatchObject({ event_action: 'resolve', dedup_key: key });
    // Three routers are still offline: the incident goes on.
    expect(await bodyOf('pagerduty', messageOf(endOf(away, { stillOpen: 3 })))).toMatchObject({ event_action: 'trigger', dedup_key: key });
    const test = viewOf({ type: 'test', group: null, by: 'Ana' }, { kind: 'test' });
    expect((await bodyOf('pagerduty', messageOf(test)))['dedup_key']).not.toBe(key);
  });

  test('Telegram: messages reply to the first one, even if somebody has deleted it', async () => {
    expect(await bodyOf('telegram', messageOf(agentAway()))).not.toHaveProperty('reply_parameters');
    expect(await bodyOf('telegram', messageOf(endOf(agentAway()), { providerRef: '77' }))).toMatchObject({
      reply_parameters: { message_id: 77, allow_sending_without_reply: true },
    });
    expect(await bodyOf('telegram', messageOf(endOf(agentAway()), { providerRef: 'x' }))).not.toHaveProperty('reply_parameters');
  });

  test('ntfy and web push: a newer message replaces the older one', async () => {
    const [opening, end] = [agentAway(), endOf(agentAway())];
    expect((await bodyOf('ntfy', messageOf(opening)))['sequence_id']).toBe((await bodyOf('ntfy', messageOf(end)))['sequence_id']);
    const topics = await Promise.all(
      [opening, end].map(async (view) => (await requestFor(providerCase('web_push'), messageOf(view))).headers['topic']),
    );
    expect(topics[0]).toBe(topics[1]);
  });
});

test('Telegram: a group that has become a supergroup is followed once, and its new id is reported', async () => {
  const one = providerCase('telegram');
  const { standIn, deps } = await provider(one);
  standIn.replies.push({
    status: 400,
    body: { ok: false, description: 'Bad Request: group chat was upgraded', parameters: { migrate_to_chat_id: -1_001_234_567_890 } },
  });
  expect(await one.send(messageOf(agentAway()), standIn.url, deps)).toEqual({ outcome: 'sent', ref: '77', movedTo: '-1001234567890' });
  expect(standIn.requests.map(({ body }) => (JSON.parse(body.toString()) as { chat_id: string }).chat_id)).toEqual([
    '-100200',
    '-1001234567890',
  ]);
  // A provider that sends us in circles gets two requests.
  standIn.reply = { status: 400, body: { ok: false, parameters: { migrate_to_chat_id: -100 } } };
  expect(await one.send(messageOf(agentAway()), standIn.url, deps)).toMatchObject({ outcome: 'never', error: 'refused' });
  expect(standIn.requests).toHaveLength(4);
});

test('an end is no alarm', async () => {
  const priorityOf = async (name: ProviderName, message: OutgoingMessage): Promise<unknown> =>
    (JSON.parse((await requestFor(providerCase(name), message)).body.toString()) as { priority: unknown }).priority;
  expect(await priorityOf('ntfy', messageOf(agentAway()))).toBe(5);
  expect(await priorityOf('ntfy', messageOf(endOf(agentAway())))).toBe(3);
  expect(await priorityOf('gotify', messageOf(agentAway()))).toBe(8);
  expect(await priorityOf('gotify', messageOf(endOf(agentAway())))).toBe(5);
  expect((await requestFor(providerCase('web_push'), messageOf(agentAway()))).headers['urgency']).toBe('high');
});
