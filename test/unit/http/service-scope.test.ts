import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApp } from '../../../server/platform/http/app.ts';
import type { App } from '../../../server/platform/http/app.ts';
import { admitServices } from '../../../server/platform/http/service-scope.ts';
import { silentLog } from '../../harness/silent-log.ts';

let app: App;

beforeEach(async () => {
  app = createApp({ log: silentLog, now: () => Date.now() });
  await app.register(async (instance) => {
    const scope = instance as App;
    await admitServices(scope, async (bearer) => (bearer === 'service' ? { id: 's1' } : undefined), {
      perMinute: 60,
      monotonic: () => performance.now(),
    });
    scope.get('/internal/who', async (request) => ({ service: request.serviceId }));
  });
});
afterEach(async () => app.close());

const ask = (bearer?: string) =>
  app.inject({ url: '/internal/who', headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` } }).then((reply) => reply);

test('a service token is admitted', async () => {
  expect((await ask('service')).json()).toEqual({ service: 's1' });
});

test.each([undefined, 'key'])('with %s: 401', async (bearer) => {
  const reply = await ask(bearer);
  expect(reply.statusCode).toBe(401);
  expect(reply.json()).toMatchObject({ code: 'unauthenticated' });
});

test('unauthenticated callers are rate-limited by address, services not at all', async () => {
  const guesses = await Promise.all(Array.from({ length: 61 }, (_, i) => ask(`guess${i}`)));
  expect(guesses.map((reply) => reply.statusCode).filter((status) => status === 429)).toHaveLength(1);
  const asked = await Promise.all(Array.from({ length: 70 }, () => ask('service')));
  expect(asked.every((reply) => reply.statusCode === 200)).toBe(true);
});
