import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AppError } from '../../../server/platform/core/errors.ts';
import type { Claim, HeldKey, IdempotencyKeys, IdempotencyScope } from '../../../server/platform/core/idempotency.ts';
import type { Principal } from '../../../server/platform/core/principal.ts';
import { createApp } from '../../../server/platform/http/app.ts';
import type { App } from '../../../server/platform/http/app.ts';
import { identifyCaller, principalOf, requireCaller, requireRole } from '../../../server/platform/http/authentication.ts';
import { pathId } from '../../../server/platform/http/fields.ts';
import { replayRepeatedWrites } from '../../../server/platform/http/idempotency.ts';
import { limitRequests } from '../../../server/platform/http/rate-limit.ts';
import { describePlantError, plantRoutes } from '../../../server/operations/sandbox/routes.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const principals: Record<string, Principal> = {
  viewer: { kind: 'api_key', id: 'k1', teamId: 't1', role: 'viewer' },
  operator: { kind: 'api_key', id: 'k2', teamId: 't1', role: 'operator' },
};
const authenticate = async (bearer: string): Promise<Principal | undefined> => principals[bearer];

/** Answers of finished POSTs by team, scope and key. */
class MemoryKeys implements IdempotencyKeys {
  hasRoomFor(): boolean {
    return true;
  }

  readonly records = new Map<string, { fingerprint: string; claim: Claim }>();

  async claim(scope: IdempotencyScope, fingerprint: string): Promise<Claim> {
    const record = this.records.get(JSON.stringify(scope));
    if (!record) {
      this.records.set(JSON.stringify(scope), { fingerprint, claim: { state: 'running' } });
      return { state: 'claimed', held: { ...scope, claim: '' } };
    }
    return record.fingerprint === fingerprint ? record.claim : { state: 'other_payload' };
  }

  async finish({ claim: _claim, ...scope }: HeldKey, status: number, response: string): Promise<void> {
    this.records.get(JSON.stringify(scope))!.claim = { state: 'finished', status, response };
  }

  async release({ claim: _claim, ...scope }: HeldKey): Promise<void> {
    this.records.delete(JSON.stringify(scope));
  }
}

let app: App;
let clock: ManualClock;
let logged: string[] = [];
let runs = 0;
let gate: Promise<void> = Promise.resolve();

beforeEach(async () => {
  clock = new ManualClock();
  runs = 0;
  gate = Promise.resolve();
  logged = [];
  app = createApp({ log: pino({ level: 'info' }, { write: (line) => void logged.push(line) }), now: () => Date.now() });
  await app.register(async (instance) => {
    const scope = instance as App;
    identifyCaller(scope, authenticate);
    await limitRequests(scope, 'test', { perMinute: 60, monotonic: () => clock.monotonic() });
    requireCaller(scope);
    requireRole(scope);
    replayRepeatedWrites(scope, new MemoryKeys(), () => Date.now());
    scope.get('/who', async (request) => principalOf(request));
    scope.post(
      '/things',
      {
        config: { role: 'operator' },
        schema: {
          body: z.object({
            name: z.string().min(1).max(6),
            size: z.int().min(1),
            kind: z.enum(['a', 'b']).optional(),
            id: z.uuid().optional(),
            many: z.array(z.string()).min(1).optional(),
          }),
        },
      },
      async (request) => {
        await gate;
        runs += 1;
        if (request.body.name === 'crash') throw new TypeError('secret detail');
        if (request.body.name === 'teapot') throw new AppError('conflict', 'it is a teapot');
        if (request.body.name === 'unsure') throw new AppError('outcome_unknown', 'no answer in time');
        if (request.body.name === 'lost') throw new AppError('router_unreachable', 'the router does not answer');
        if (request.body.name === 'full') throw new AppError('unavailable', 'every place is taken', { retryAfterMs: 2500 });
        return { run: runs };
      },
    );
    scope.post('/jobs', { config: { resumable: true } }, async () => {
      runs += 1;
      throw new AppError('outcome_unknown', 'no answer in time');
    });
    scope.post('/things/:id', { schema: { params: z.object({ id: pathId }) } }, async (request) => ({
      id: request.params.id,
      run: (runs += 1),
    }));
    scope.post('/secrets', { config: { secretAnswer: true } }, async () => ({ secret: 'shown once' }));
  });
});

afterEach(async () => app.close());

const bearer = (who: string) => ({ authorization: `Bearer ${who}` });
/** `then` because inject sends nothing before it is awaited. */
const who = (name: string) => app.inject({ method: 'GET', url: '/who', headers: bearer(name) }).then((reply) => reply);
const post = (body: unknown, headers: Record<string, string> = {}) =>
  app
    .inject({ method: 'POST', url: '/things', headers: { ...bearer('operator'), ...headers }, payload: body as object })
    .then((reply) => reply);

describe('errors are problem+json of one shape', () => {
  test.each([
    ['no credential', { method: 'GET', url: '/who' }, 401, 'unauthenticated'],
    ['wrong credential', { method: 'GET', url: '/who', headers: bearer('nobody') }, 401, 'unauthenticated'],
    ['two credentials', { method: 'GET', url: '/who', headers: { authorization: 'Bearer a b' } }, 401, 'unauthenticated'],
    ['right missing', { method: 'POST', url: '/things', headers: bearer('viewer'), payload: { name: 'a', size: 1 } }, 403, 'forbidden'],
    ['unknown path', { method: 'GET', url: '/nowhere' }, 404, 'not_found'],
    ['unknown method', { method: 'DELETE', url: '/things' }, 405, 'method_not_allowed'],
    ['malformed escape', { method: 'GET', url: '/%zz' }, 422, 'invalid'],
    [
      'malformed JSON',
      { method: 'POST', url: '/things', headers: { ...bearer('operator'), 'content-type': 'application/json' }, payload: '{"a"' },
      422,
      'invalid',
    ],
    [
      'other content type',
      { method: 'POST', url: '/things', headers: { ...bearer('operator'), 'content-type': 'text/xml' }, payload: '<a/>' },
      415,
      'unsupported_media_type',
    ],
    [
      'too large',
      { method: 'POST', url: '/things', headers: bearer('operator'), payload: { name: 'x'.repeat(1_100_000) } },
      413,
      'too_large',
    ],
    [
      'wrong fields',
      { method: 'POST', url: '/things', headers: bearer('operator'), payload: { name: 'too long', size: 'x' } },
      422,
      'invalid',
    ],
    [
      'no router',
      { method: 'POST', url: '/things', headers: bearer('operator'), payload: { name: 'lost', size: 1 } },
      503,
      'router_unreachable',
    ],
    ['crash', { method: 'POST', url: '/things', headers: bearer('operator'), payload: { name: 'crash', size: 1 } }, 500, 'internal'],
  ] as const)('%s', async (_name, request, status, code) => {
    const reply = await app.inject(request as never);
    expect(reply.statusCode).toBe(status);
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
    const body = reply.json<Record<string, unknown>>();
    expect(body).toMatchObject({
      status,
      code,
      title: expect.any(String),
      message: body['detail'],
      request_id: reply.headers['x-request-id'],
    });
    expect(reply.body).not.toContain('secret detail');
  });

  test('the log has a rejected request by its request id, with the rejected fields but not their values', async () => {
    const reply = await post({ name: 'too long', size: 1 });
    const found = logged
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find((entry) => entry['request_id'] === reply.headers['x-request-id']);
    expect(found).toMatchObject({
      level: 30,
      method: 'POST',
      route: '/things',
      status: 422,
      code: 'invalid',
      fields: ['name'],
      msg: 'request refused',
    });
    expect(JSON.stringify(found)).not.toContain('too long');
  });

  test('unauthenticated callers cannot flood the log', async () => {
    for (let i = 0; i < 100; i += 1) {
      await app.inject({ method: 'GET', url: `/nowhere/${i}` });
      await app.inject({ method: 'DELETE', url: '/things' });
      await who('nobody');
    }
    expect(logged.length).toBeLessThanOrEqual(60);
  });

  test('an error with a known retry time sends Retry-After', async () => {
    expect((await post({ name: 'full', size: 1 })).headers['retry-after']).toBe('3');
    expect((await post({ name: 'lost', size: 1 })).headers['retry-after']).toBeUndefined();
  });

  test('names every rejected field with its reasons', async () => {
    const reply = await post({ name: 'too long', size: 'x' });
    expect(Object.keys(reply.json<{ errors: object }>().errors).sort()).toEqual(['name', 'size']);
  });

  test.each([
    [{}, { name: 'is required', size: 'is required' }],
    [
      { name: 1, size: 'x' },
      { name: 'must be a string', size: 'must be a number' },
    ],
    [{ name: 'a', size: '' }, { size: 'must not be empty' }],
    [
      { name: 'too long', size: 1.5 },
      { name: 'must have at most 6 characters', size: 'must be a whole number' },
    ],
    [
      { name: '', size: 0 },
      { name: 'must not be empty', size: 'must be at least 1' },
    ],
    [{ name: 'a', size: 1, kind: 'c' }, { kind: 'must be one of a, b' }],
    [
      { name: 'a', size: 1, id: 'c', many: [] },
      { id: 'must be a UUID', many: 'must have at least 1 entry' },
    ],
    [{ name: 'a', size: 1, many: ['a', 5] }, { 'many.1': 'must be a string' }],
    [[], { body: 'must be a JSON object' }],
  ])('%j is refused in plain words', async (body, words) => {
    const { errors } = (await post(body)).json<{ errors: Record<string, string[]> }>();
    expect(Object.fromEntries(Object.entries(errors).map(([field, [reason]]) => [field, reason]))).toEqual(words);
  });

  test('405 and OPTIONS list the allowed methods', async () => {
    const refused = await app.inject({ method: 'PATCH', url: '/who' });
    expect(refused.headers['allow']).toBe('GET, HEAD');
    const asked = await app.inject({ method: 'OPTIONS', url: '/things?x=1' });
    expect([asked.statusCode, asked.headers['allow'], asked.body]).toEqual([204, 'POST', '']);
  });

  test('a trailing slash is another path, and the error says so', async () => {
    const reply = await app.inject('/who/');
    expect(reply.json()).toMatchObject({ status: 404, detail: 'no route GET /who/: there is one without the slash at the end' });
  });

  test('401 explains how to authenticate', async () => {
    expect((await app.inject('/who')).headers['www-authenticate']).toContain('Bearer');
  });
});

describe('60 requests a minute for each key', () => {
  test('the 61st is 429 with Retry-After, and another key is not affected', async () => {
    const replies = await Promise.all(Array.from({ length: 61 }, () => who('viewer')));
    expect(replies.map((reply) => reply.statusCode).filter((status) => status === 200)).toHaveLength(60);
    const refused = replies.find((reply) => reply.statusCode === 429)!;
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.json()).toMatchObject({ code: 'rate_limited', status: 429 });
    expect((await who('operator')).statusCode).toBe(200);
  });

  test('every response says how many requests are left', async () => {
    await who('viewer');
    expect((await who('viewer')).headers).toMatchObject({ 'ratelimit-limit': '60', 'ratelimit-remaining': '58', 'ratelimit-reset': '60' });
  });

  test('the window slides: no more requests pass at the boundary of two minutes', async () => {
    const statuses = async (times: number) =>
      (await Promise.all(Array.from({ length: times }, () => who('viewer')))).map(({ statusCode }) => statusCode);
    expect(await statuses(1)).toEqual([200]);
    clock.advance(59_000);
    expect(await statuses(59)).toEqual(Array<number>(59).fill(200));
    clock.advance(1000);
    expect((await statuses(60)).filter((status) => status === 200)).toHaveLength(1);
    const refused = await who('viewer');
    expect(refused.headers).toMatchObject({ 'ratelimit-remaining': '0', 'ratelimit-reset': '59', 'retry-after': '59' });
    clock.advance(59_000);
    expect(await statuses(1)).toEqual([200]);
  });

  test('setting the clock has no effect', async () => {
    for (let i = 0; i < 60; i += 1) await who('viewer');
    clock.step(2 * 3600_000);
    expect((await who('viewer')).statusCode).toBe(429);
    clock.step(-4 * 3600_000);
    expect((await who('viewer')).headers['retry-after']).toBe('60');
    clock.advance(60_000);
    expect((await who('viewer')).statusCode).toBe(200);
  });

  test('rejected bodies count as well', async () => {
    for (let i = 0; i < 60; i += 1) await post({ name: 1 });
    expect((await post({ name: 'a', size: 1 })).statusCode).toBe(429);
  });

  test('unauthenticated callers are counted by address', async () => {
    const replies = await Promise.all(Array.from({ length: 61 }, (_, i) => who(`guess${i}`)));
    expect(replies.map((reply) => reply.statusCode).filter((status) => status === 429)).toHaveLength(1);
    expect((await who('viewer')).statusCode).toBe(200);
  });
});

describe('Idempotency-Key', () => {
  const key = { 'idempotency-key': '"abc"' };

  test('the same key and body gives the first response again', async () => {
    const first = await post({ name: 'a', size: 1 }, key);
    const second = await post({ size: 1, name: 'a' }, { 'idempotency-key': 'abc' });
    expect(second.json()).toEqual(first.json());
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(runs).toBe(1);
  });

  test('an error is replayed unchanged, with the first request id in its body and its own in the header', async () => {
    const refused = () => post({ name: 'teapot', size: 1 }, key);
    const first = await refused();
    const again = await refused();
    expect([first.statusCode, again.statusCode]).toEqual([409, 409]);
    expect(again.body).toBe(first.body);
    expect(again.json()).toMatchObject({ request_id: first.headers['x-request-id'] });
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });

  test('an id in capitals is the same request', async () => {
    const to = (id: string) =>
      app
        .inject({ method: 'POST', url: `/things/${id}`, headers: { ...bearer('operator'), ...key } })
        .then((reply) => reply.json<unknown>());
    expect(await to('00C0FFEE')).toEqual(await to('00c0ffee'));
    expect(await to('0badcafe')).not.toEqual(await to('00c0ffee'));
  });

  test('another body is rejected', async () => {
    await post({ name: 'a', size: 1 }, key);
    const reply = await post({ name: 'b', size: 1 }, key);
    expect(reply.statusCode).toBe(422);
    expect(reply.json()).toMatchObject({ errors: { 'idempotency-key': [expect.stringContaining('another request body')] } });
  });

  test('while the first request is in progress, the second is a conflict', async () => {
    let open = (): void => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const first = post({ name: 'a', size: 1 }, key);
    const second = await post({ name: 'a', size: 1 }, key);
    expect(second.statusCode).toBe(409);
    expect(second.json()).toMatchObject({ code: 'in_progress' });
    expect(second.headers['retry-after']).toBe('1');
    open();
    expect((await first).statusCode).toBe(200);
  });

  test('a repeat of a request that may have taken effect does not run again', async () => {
    for (const [name, status, code] of [
      ['unsure', 504, 'outcome_unknown'],
      ['crash', 500, 'internal'],
    ] as const) {
      runs = 0;
      const headers = { 'idempotency-key': name };
      expect((await post({ name, size: 1 }, headers)).statusCode).toBe(status);
      const again = await post({ name, size: 1 }, headers);
      expect(again.json()).toMatchObject({ status, code });
      expect(again.headers['idempotency-replayed']).toBe('true');
      expect(runs).toBe(1);
    }
  });

  test('a repeat runs again when the route itself finds its earlier record', async () => {
    const ask = () =>
      app.inject({ method: 'POST', url: '/jobs', headers: { ...bearer('operator'), ...key } }).then((reply) => reply.statusCode);
    expect([await ask(), await ask()]).toEqual([504, 504]);
    expect(runs).toBe(2);
  });

  test('a request rejected before it had any effect is not stored', async () => {
    expect((await post({ name: 'lost', size: 1 }, key)).statusCode).toBe(503);
    expect((await post({ name: 'lost', size: 1 }, key)).statusCode).toBe(503);
    expect(runs).toBe(2);
  });

  test('a response with a secret is not stored, and a repeat says so', async () => {
    const ask = () => app.inject({ method: 'POST', url: '/secrets', headers: { ...bearer('operator'), ...key } }).then((reply) => reply);
    expect((await ask()).json()).toEqual({ secret: 'shown once' });
    const again = await ask();
    expect(again.json()).toMatchObject({ status: 409, code: 'conflict', detail: expect.stringContaining('only once') });
    expect(again.statusCode).toBe(409);
    expect(again.headers['content-type']).toMatch(/^application\/problem\+json/);
  });

  test('every POST without a key is a new request', async () => {
    await post({ name: 'a', size: 1 });
    await post({ name: 'a', size: 1 });
    expect(runs).toBe(2);
  });

  test.each(['', 'x'.repeat(256), 'a b'])('%j is no key', async (bad) => {
    expect((await post({ name: 'a', size: 1 }, { 'idempotency-key': bad })).statusCode).toBe(422);
  });
});

describe('the plant demonstration', () => {
  let sandbox: App;
  beforeEach(async () => {
    sandbox = createApp({ log: pino({ level: 'silent' }), now: () => Date.now(), describeError: describePlantError, exactIntegers: true });
    await sandbox.register(async (instance) =>
      plantRoutes(instance as App, { authenticate, rateLimit: { perMinute: 60, monotonic: () => performance.now() } }),
    );
  });
  afterEach(async () => sandbox.close());
  const plant = (payload: object, headers = bearer('viewer')) => sandbox.inject({ method: 'POST', url: '/plants', headers, payload });

  test('a new plant is returned without its id', async () => {
    expect((await plant({ id: 7, name: 'fern', tag: 'green' })).json()).toEqual({ name: 'fern', tag: 'green' });
    expect((await plant({ id: 7, name: 'fern' })).json()).toEqual({ name: 'fern' });
  });

  test('an id may be any int64, and no other number', async () => {
    const status = async (id: string) =>
      (
        await sandbox.inject({
          method: 'POST',
          url: '/plants',
          headers: { ...bearer('viewer'), 'content-type': 'application/json' },
          payload: `{"id":${id},"name":"fern"}`,
        })
      ).statusCode;
    for (const id of ['0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808', '1e18'])
      expect(await status(id), id).toBe(200);
    for (const id of [
      '1.5',
      '1e19',
      '9223372036854775808',
      '-9223372036854775809',
      '9223372036854779999',
      '-9223372036854779999',
      '1e400',
      '"7"',
      'null',
    ])
      expect(await status(id), id).toBe(400);
  });

  test('an invalid request is 400 with its own error object', async () => {
    for (const payload of [{}, { name: 'fern' }, { id: 'x', name: 'fern' }, { id: 1, name: 5 }]) {
      const reply = await plant(payload);
      expect(reply.statusCode).toBe(400);
      expect(reply.json()).toEqual({ error: 400, message: expect.any(String) });
    }
  });

  test('also where there is no route', async () => {
    for (const [method, url, error] of [
      ['GET', '/plants', 405],
      ['GET', '/nowhere', 404],
    ] as const) {
      expect((await sandbox.inject({ method, url })).json()).toEqual({ error, message: expect.any(String) });
    }
  });

  test('a bearer is required', async () => {
    expect((await plant({ id: 7, name: 'fern' }, bearer('nobody'))).json()).toMatchObject({ error: 401 });
  });
});
