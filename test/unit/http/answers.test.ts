import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../../../server/platform/core/principal.ts';
import { SlidingWindow } from '../../../server/platform/core/sliding-window.ts';
import { createApp } from '../../../server/platform/http/app.ts';
import type { App } from '../../../server/platform/http/app.ts';
import { identifyCaller, requireCaller } from '../../../server/platform/http/authentication.ts';
import { codingFor, compressAnswers } from '../../../server/platform/http/compression.ts';
import { limitRequests } from '../../../server/platform/http/rate-limit.ts';
import { answerUnchanged } from '../../../server/platform/http/unchanged.ts';
import { silentLog } from '../../harness/silent-log.ts';

const KEY: Principal = { kind: 'api_key', id: 'key', teamId: 't', role: 'admin' };
const LONG = { text: 'x'.repeat(5000) };

describe('answers', () => {
  let app: App;
  let content: object;
  beforeEach(async () => {
    content = LONG;
    app = createApp({ log: silentLog, now: () => 0 });
    await app.register(async (instance) => {
      const scope = instance as App;
      identifyCaller(scope, async () => KEY);
      const giveBack = await limitRequests(scope, 'test', { perMinute: 60, monotonic: () => performance.now() });
      requireCaller(scope);
      answerUnchanged(scope, giveBack);
      compressAnswers(scope);
      scope.get('/x', async () => content);
      scope.get('/secret', { config: { secretAnswer: true } }, async () => content);
      scope.get('/text', async (_request, reply) => reply.type('text/plain').send('x'.repeat(5000)));
    });
  });
  afterEach(async () => app.close());

  const get = async (url: string, headers: Record<string, string> = {}) =>
    app.inject({ url, headers: { authorization: 'Bearer key', ...headers } });

  test('are compressed as the caller asks, and are the same when they are read', async () => {
    const plain = await get('/x');
    expect(plain.headers['content-encoding']).toBeUndefined();
    for (const [coding, read] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const answer = await get('/x', { 'accept-encoding': coding });
      expect(answer.headers).toMatchObject({ 'content-encoding': coding, vary: 'accept-encoding' });
      expect(answer.rawPayload.length).toBeLessThan(200);
      expect(Number(answer.headers['content-length'])).toBe(answer.rawPayload.length);
      expect(read(answer.rawPayload).toString()).toBe(plain.body);
      expect(answer.headers['etag']).toBe(plain.headers['etag']);
    }
  });

  test('are not compressed when they are short, hold a secret, or are no JSON', async () => {
    const asked = { 'accept-encoding': 'br, gzip' };
    for (const url of ['/secret', '/text']) expect((await get(url, asked)).headers['content-encoding'], url).toBeUndefined();
    content = { text: 'short' };
    expect((await get('/x', asked)).headers['content-encoding']).toBeUndefined();
  });

  test('are 304 without a body while they are the same', async () => {
    const { headers } = await get('/x');
    const etag = String(headers['etag']);
    for (const tag of [etag, `"other", ${etag}`, etag.slice(2), '*']) {
      const answer = await get('/x', { 'if-none-match': tag, 'accept-encoding': 'br' });
      expect({ status: answer.statusCode, body: answer.body }, tag).toEqual({ status: 304, body: '' });
      expect(answer.headers['etag']).toBe(etag);
    }
    content = { text: 'another' };
    expect((await get('/x', { 'if-none-match': etag })).statusCode).toBe(200);
  });

  test('that are 304 do not count against the rate, and all others do, to exactly 60', async () => {
    const etag = String((await get('/x')).headers['etag']);
    for (let count = 0; count < 100; count += 1) expect((await get('/x', { 'if-none-match': etag })).statusCode).toBe(304);
    let allowed = 1;
    for (let count = 0; count < 70; count += 1) if ((await get('/x')).statusCode === 200) allowed += 1;
    expect(allowed).toBe(60);
    // Nothing is given back to whoever has no room left to ask.
    expect((await get('/x', { 'if-none-match': etag })).statusCode).toBe(429);
  });
});

test.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['GZIP', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['br;q=0, *', 'gzip'],
  ['br;q=x', undefined],
  ['deflate', undefined],
])('Accept-Encoding %j means %s', (header, coding) => expect(codingFor(header)).toBe(coding));

test('a place that is given back is never that of an earlier request', () => {
  let now = 0;
  const window = new SlidingWindow(1000, () => now);
  for (now = 0; now < 3; now += 1) window.take('k', 3);
  window.giveBack('k', 2);
  now = 999;
  expect(window.take('k', 3).current).toBe(3);
  // Those of 0 and 1 have left, that of 999 has not.
  now = 1001;
  expect([window.take('k', 3).current, window.take('k', 3).current, window.take('k', 3).current]).toEqual([2, 3, 4]);
  window.giveBack('unknown', 0);
  window.giveBack('k', 5000);
  expect(window.look('k').current).toBe(3);
});
