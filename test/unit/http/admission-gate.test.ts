import { lookup } from 'node:dns/promises';
import http from 'node:http';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Admission } from '../../../server/platform/http/admission.ts';
import { admitRequests } from '../../../server/platform/http/admission-gate.ts';
import { createApp } from '../../../server/platform/http/app.ts';
import type { App } from '../../../server/platform/http/app.ts';
import { isInSlot, releaseAdmissionSlot } from '../../../server/platform/core/admission-slot.ts';
import { listen } from '../../../server/platform/http/listen.ts';
import { eventually } from '../../harness/wait-until.ts';

/** An application with one slot, which is taken, and no room to wait: the next request is refused. */

vi.mock('node:dns/promises', { spy: true });

const options = { log: pino({ level: 'silent' }), now: () => Date.now() };
const limits = {
  atOnce: 1,
  rush: { requests: 1, oneByOne: 0, connections: 2 },
  waiting: { total: 0, perParty: 0, perMember: 0 },
  waitMs: 800,
  checkMs: 10,
  workMs: 60_000,
};

let app: App;
let admission: Admission;
/** Requests that reached the application. */
let seen: string[];
let metrics: object[];

beforeEach(() => {
  [seen, metrics] = [[], []];
  app = createApp(options);
  admission = new Admission(limits);
  admitRequests(app, { admission, options, observe: (labels) => metrics.push(labels) });
  app.addHook('onRequest', async ({ url }) => {
    seen.push(url);
  });
  for (const url of ['/api/echo', '/healthz']) app.post(url, async ({ body }) => ({ got: body }));
});
afterEach(async () => app.close());

function post(url: string): Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: JSON.parse(text) as Record<string, unknown> }),
      );
    });
    request.on('error', reject).end('"hello"');
  });
}

test('a refused request never becomes one of the application', async () => {
  const url = await listen(app, { host: '127.0.0.1', port: 0 });
  void admission.enter({ party: 'x', member: 'x' });
  const { status, headers, body } = await post(`${url}/api/echo`);
  expect(seen).toEqual([]);
  expect(status).toBe(503);
  expect(headers).toMatchObject({
    'content-type': 'application/problem+json; charset=utf-8',
    'retry-after': '2',
    'cache-control': 'no-store',
    'x-request-id': body['request_id'],
  });
  expect(body).toMatchObject({ code: 'unavailable', status: 503 });
  expect(metrics).toEqual([{ method: 'POST', route: 'overload', status: 503 }]);
  expect((await post(`${url}/api/echo`)).body['request_id']).not.toBe(body['request_id']);
});

test('all that serves a request knows it, from its first hook on; what it leaves behind does not', async () => {
  const known: Record<string, boolean> = {};
  let later: Promise<boolean> | undefined;
  await app.register(async (scope) => {
    scope.addHook('onRequest', async () => void (known['onRequest'] = isInSlot()));
    scope.addHook('preValidation', async () => void (known['preValidation'] = isInSlot()));
    scope.post('/api/known', async () => {
      known['handler'] = isInSlot();
      later = new Promise((resolve) => app.server.once('later', () => resolve(isInSlot())));
      // A loop that the request begins runs on in its context.
      const timer = setInterval(() => {
        if (admission.working > 0) return;
        clearInterval(timer);
        app.server.emit('later');
      }, 5);
      return {};
    });
  });
  const url = await listen(app, { host: '127.0.0.1', port: 0 });
  await post(`${url}/api/known`);
  expect(known).toEqual({ onRequest: true, preValidation: true, handler: true });
  expect(await later).toBe(false);
});

test('an admitted one does, and releases its slot when it is answered', async () => {
  const url = await listen(app, { host: '127.0.0.1', port: 0 });
  for (const _ of [1, 2]) {
    expect((await post(`${url}/api/echo`)).body).toEqual({ got: 'hello' });
    await eventually(() => expect(admission.working).toBe(0));
  }
  expect(seen).toEqual(['/api/echo', '/api/echo']);
});

test('one that waits for a router releases its slot, and one in progress keeps it', async () => {
  const [router, database] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  app.post('/api/router', async () => {
    releaseAdmissionSlot();
    await router.promise;
    return {};
  });
  app.post('/api/database', async () => {
    await database.promise;
    return {};
  });
  const url = await listen(app, { host: '127.0.0.1', port: 0 });
  const asking = post(`${url}/api/router`);
  await eventually(() => expect(seen).toEqual(['/api/router']));
  await eventually(() => expect(admission.working).toBe(0));
  const working = post(`${url}/api/database`);
  await eventually(() => expect(seen).toHaveLength(2));
  expect((await post(`${url}/api/echo`)).status).toBe(503);
  expect(admission.working).toBe(1);
  database.resolve();
  expect((await working).status).toBe(200);
  router.resolve();
  expect((await asking).status).toBe(200);
});

test('one whose client is slow to send or to read releases its slot', async () => {
  app.get('/api/stream', (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200).write('the first of many');
  });
  const url = await listen(app, { host: '127.0.0.1', port: 0 });
  const slow = http.request(`${url}/api/echo`, { method: 'POST', headers: { 'content-length': 7 }, agent: false });
  slow.on('error', () => undefined).write('"');
  await eventually(() => expect(seen).toEqual(['/api/echo']));
  await eventually(() => expect(admission.working).toBe(0));
  const stream = http.get(`${url}/api/stream`, { agent: false }).on('error', () => undefined);
  await eventually(() => expect(seen).toHaveLength(2));
  await eventually(() => expect(admission.working).toBe(0));
  expect((await post(`${url}/api/echo`)).status).toBe(200);
  for (const request of [slow, stream]) request.destroy();
});

test('monitoring is answered while all slots are taken', async () => {
  const url = await listen(app, { host: '127.0.0.1', port: 0 });
  void admission.enter({ party: 'x', member: 'x' });
  expect((await post(`${url}/healthz?verbose`)).status).toBe(200);
});

test('one address of localhost is listened on, so that no server bypasses the queue', async () => {
  vi.mocked(lookup).mockResolvedValueOnce({ address: '127.0.0.1', family: 4 });
  const url = await listen(app, { host: 'localhost', port: 0 });
  expect(url).toMatch(/^http:\/\/localhost:\d+$/);
  expect(app.addresses()).toEqual([expect.objectContaining({ address: '127.0.0.1' })]);
  void admission.enter({ party: 'x', member: 'x' });
  expect((await post(url.replace('localhost', '127.0.0.1') + '/api/echo')).status).toBe(503);
});
