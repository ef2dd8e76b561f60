import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApp } from '../../../server/platform/http/app.ts';
import type { App } from '../../../server/platform/http/app.ts';
import { protectEdge } from '../../../server/platform/http/security-headers.ts';

let app: App;
beforeEach(async () => {
  app = createApp({ log: pino({ level: 'silent' }), now: () => Date.now() });
  await protectEdge(app, { corsOrigins: ['https://console.example.net'] });
  app.post('/api/echo', async (request) => ({ got: request.body }));
});
afterEach(async () => app.close());

const post = (payload: string) =>
  app.inject({ method: 'POST', url: '/api/echo', headers: { 'content-type': 'application/json' }, payload });

test.each([
  ['32 levels are enough', `${'['.repeat(32)}${']'.repeat(32)}`, 200],
  ['33 levels are refused', `${'['.repeat(33)}${']'.repeat(33)}`, 422],
  ['half a million levels are refused', '['.repeat(500_000), 422],
  ['brackets in strings do not count', JSON.stringify('[{'.repeat(100)), 200],
  ['brackets after an escaped quote do not count', JSON.stringify(`"${'['.repeat(100)}`), 200],
  ['a NUL is refused', '{"a":"x\\u0000y"}', 422],
  ['a NUL at the start is refused', '{"a":"\\u0000"}', 422],
  ['a NUL after a backslash is refused', '{"a":"\\\\\\u0000"}', 422],
  ['the text \\u0000 is not a NUL', '{"a":"\\\\u0000"}', 200],
  ['a prototype cannot be set', '{"__proto__":{"admin":true}}', 422],
  ['what is no JSON is refused', '{', 422],
  ['an empty body is no body: what a route needs, its schema says', '', 200],
])('%s', async (_name, payload, status) => {
  expect((await post(payload)).statusCode).toBe(status);
});

test('responses forbid caching, framing, sniffing and referrers', async () => {
  const { headers } = await post('{}');
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  });
});

test.each(['/%61pi/echo', '/01890a5d-ac96-774b-bcce-b302099a8057'])('nor are they at %s', async (url) => {
  app.get('/:group', async () => ({}));
  const { headers, statusCode } = await app.inject({ method: url.includes('echo') ? 'POST' : 'GET', url });
  expect({ statusCode, cache: headers['cache-control'] }).toEqual({ statusCode: 200, cache: 'no-store' });
});

test('only the configured origins may call from a browser', async () => {
  const preflight = (origin: string) =>
    app.inject({ method: 'OPTIONS', url: '/api/echo', headers: { origin, 'access-control-request-method': 'POST' } });
  expect((await preflight('https://console.example.net')).headers['access-control-allow-origin']).toBe('https://console.example.net');
  expect((await preflight('https://evil.example')).headers['access-control-allow-origin']).toBeUndefined();
});

test.each([
  ['bytes that are no UTF-8', 'application/json', Buffer.from([0x22, 0xff, 0xfe, 0x22]), 422],
  ['JSON sent as text', 'text/plain', Buffer.from('{}'), 415],
  ['a form', 'application/x-www-form-urlencoded', Buffer.from('a=b'), 415],
  ['JSON in another charset', 'application/json; charset=iso-8859-1', Buffer.from('{}'), 415],
  ['JSON with a charset', 'application/json; charset=utf-8', Buffer.from('{"a":"ä"}'), 200],
])('%s', async (_name, type, payload, status) => {
  const reply = await app.inject({ method: 'POST', url: '/api/echo', headers: { 'content-type': type }, payload });
  expect(reply.statusCode).toBe(status);
});
