import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebhookChannel } from '../../../server/outbound/notifications/channels/webhook.ts';
import type { SendResult } from '../../../server/outbound/notifications/channels/types.ts';
import type { ResolveName } from '../../../server/platform/outgoing/lookup.ts';
import { Poster } from '../../../server/platform/outgoing/poster.ts';
import { newWebhookSecret } from '../../../server/platform/outgoing/signature.ts';
import { agentAway, endOf, messageOf, storm, SUBJECTS, viewOf } from '../../harness/notify/views.ts';
import { cut, hang, later, WebhookReceiver } from '../../harness/webhook-receiver.ts';
import type { Reply } from '../../harness/webhook-receiver.ts';

const nobody: ResolveName = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
const never = new AbortController().signal;
const secret = newWebhookSecret();
const NOW = Date.now();
/** Standard Webhooks, "Payload size": more than this should be an address to fetch it from. */
const COMMON_LIMIT_BYTES = 20 * 1024;

interface StormBody {
  data: { thread: { subject: object; item_count: number; items: unknown[] }; text: { first: string; row_count: number } };
}

let receiver: WebhookReceiver;
let poster: Poster;
let channel: WebhookChannel;

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  poster = new Poster({ rules: { allowLoopback: true }, resolve: nobody, deadlineMs: 300 });
  channel = new WebhookChannel({ poster, now: () => NOW });
});
afterEach(async () => {
  await poster.close();
  await receiver.close();
});

const send = (thread = agentAway()): Promise<SendResult> =>
  channel.send(messageOf(thread), { url: receiver.url, secrets: [secret] }, never);

test('a message is signed as job updates are, with the facts as data and the words beside them', async () => {
  expect(await send()).toEqual({ outcome: 'sent' });
  const [request] = receiver.received;
  const body = new Webhook(secret).verify(request!.body, request!.headers) as Record<string, never>;
  expect(request!.headers['webhook-id']).toBe(messageOf(agentAway()).id);
  expect(body).toMatchObject({
    type: 'notification.open',
    timestamp: '2026-11-23T07:31:25.000Z',
    data: {
      is_test: false,
      team: 'Northwind',
      thread: {
        severity: 'critical',
        subject: { type: 'agent', routers: 500, site: { name: 'Depot Madrid' } },
        first_at: '2026-11-23T07:31:00.000Z',
        last_at: '2026-11-23T07:31:00.000Z',
        ended_at: null,
        item_count: 500,
      },
      text: { locale: 'en', subject: 'Depot Madrid: agent away since 08:31, 500 routers not visible', row_count: 500 },
    },
  });
});

test('the end has its time, and every subject has its facts', async () => {
  await send(endOf(agentAway()));
  expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
    type: 'notification.resolve',
    data: { thread: { ended_at: '2026-11-23T07:44:00.000Z' } },
  });
  for (const subject of SUBJECTS) await send(viewOf(subject));
  const subjects = receiver.received
    .slice(1)
    .map(({ body }) => (JSON.parse(body) as { data: { thread: { subject: { type: string } } } }).data);
  expect(subjects.map(({ thread }) => thread.subject.type)).toEqual(SUBJECTS.map(({ type }) => type));
});

test.each([
  ['the opening', storm()],
  ['the end', endOf(storm())],
])('%s of 812 routers has the right numbers, a cut list, and less than receivers commonly take', async (_, thread) => {
  expect(await send(thread)).toEqual({ outcome: 'sent' });
  const [request] = receiver.received;
  expect(Buffer.byteLength(request!.body)).toBeLessThanOrEqual(COMMON_LIMIT_BYTES);
  const { data } = new Webhook(secret).verify(request!.body, request!.headers) as StormBody;
  expect(data.thread.subject).toMatchObject({ type: 'storm', sites: 37, routers: 812 });
  expect(data.thread.item_count).toBe(812);
  expect(data.thread.items.length).toBeLessThan(812);
  expect(data.text.row_count).toBe(812);
  expect(data.text.first).toContain('37 sites, 812 routers');
});

test('nothing is sent unsigned', async () => {
  expect(await channel.send(messageOf(agentAway()), { url: receiver.url, secrets: [] }, never)).toMatchObject({
    outcome: 'config',
    error: 'signing_failed',
  });
  expect(receiver.connections).toBe(0);
});

const says =
  (status: number, body: string, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(status, headers).end(body);

test.each<[string, Reply, SendResult]>([
  ['204', 204, { outcome: 'sent' }],
  ['410', 410, { outcome: 'never', error: 'gone', detail: 'HTTP 410', addressOff: 'gone' }],
  ['400 with a reason', says(400, 'no such field\n'), { outcome: 'never', error: 'refused', detail: 'HTTP 400: no such field' }],
  ['413', 413, { outcome: 'never', error: 'too_large', detail: 'HTTP 413' }],
  ['302', says(302, '', { location: 'https://elsewhere.example.com' }), { outcome: 'never', error: 'redirected', detail: 'HTTP 302' }],
  ['401', 401, { outcome: 'config', error: 'unauthorized', detail: 'HTTP 401' }],
  ['503', 503, { outcome: 'retry', error: 'unavailable', detail: 'HTTP 503' }],
  ['503 with Retry-After', later('120'), { outcome: 'retry', error: 'unavailable', detail: 'HTTP 503', retryAfterMs: 120_000 }],
  ['429', later('30', 429), { outcome: 'retry', error: 'rate_limited', detail: 'HTTP 429', retryAfterMs: 30_000 }],
  [
    '429 with a date',
    later(new Date(Math.floor(NOW / 1000) * 1000 + 60_000).toUTCString(), 429),
    { outcome: 'retry', error: 'rate_limited', detail: 'HTTP 429', retryAfterMs: Math.floor(NOW / 1000) * 1000 + 60_000 - NOW },
  ],
  [
    '429 with ratelimit-reset',
    says(429, '', { 'ratelimit-reset': '7' }),
    { outcome: 'retry', error: 'rate_limited', detail: 'HTTP 429', retryAfterMs: 7000 },
  ],
  [
    '429 with ratelimit',
    says(429, '', { ratelimit: '"default";r=0;t=9' }),
    { outcome: 'retry', error: 'rate_limited', detail: 'HTTP 429', retryAfterMs: 9000 },
  ],
  ['408', 408, { outcome: 'retry', error: 'unavailable', detail: 'HTTP 408' }],
  ['no answer', hang, { outcome: 'retry', error: 'timed_out', detail: '' }],
  ['a cut connection', cut, { outcome: 'retry', error: 'connection_lost', detail: '' }],
])('%s is sorted', async (_name, reply, result) => {
  receiver.reply = reply;
  expect(await send()).toEqual(result);
});

test('what a receiver says is one short line, and never the address', async () => {
  receiver.reply = says(500, `\u001B[31m${receiver.url}\r\n${'x'.repeat(10_000)}`);
  const result = await send();
  expect(result).toMatchObject({ outcome: 'retry', error: 'unavailable' });
  const { detail } = result as { detail: string };
  expect(detail.length).toBeLessThanOrEqual(300);
  expect(detail).toMatch(/^HTTP 500: \[31m•••/);
  expect(detail).not.toMatch(/\p{Cc}/u);
});

test('a stopped attempt does not count', async () => {
  receiver.reply = hang;
  const stop = new AbortController();
  const result = channel.send(messageOf(agentAway()), { url: receiver.url, secrets: [secret] }, stop.signal);
  stop.abort();
  expect(await result).toEqual({ outcome: 'stopped' });
});

test('a private address is refused for good', async () => {
  const strict = new Poster({ rules: { allowLoopback: false }, resolve: nobody, deadlineMs: 300 });
  const result = await new WebhookChannel({ poster: strict, now: () => NOW }).send(
    messageOf(agentAway()),
    { url: 'https://10.0.0.1/', secrets: [secret] },
    never,
  );
  await strict.close();
  expect(result).toEqual({ outcome: 'never', error: 'address_refused', detail: '' });
});

test.each([400, 401, 410, 503])("shows the status and no words of a host in the operator's network: %d", async (status) => {
  receiver.reply = (response) => response.writeHead(status).end('the password is 1234');
  expect(await send()).toMatchObject({ detail: `HTTP ${status}: the password is 1234` });
  const inside = new Poster({ rules: { allowLoopback: false, privateNetworks: ['127.0.0.1'] }, resolve: nobody, deadlineMs: 300 });
  try {
    channel = new WebhookChannel({ poster: inside, now: () => NOW });
    expect(await send()).toMatchObject({ detail: `HTTP ${status}` });
  } finally {
    await inside.close();
  }
});
