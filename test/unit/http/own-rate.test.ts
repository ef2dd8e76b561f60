import { expect, test } from 'vitest';
import type { Principal } from '../../../server/platform/core/principal.ts';
import { createApp } from '../../../server/platform/http/app.ts';
import type { App } from '../../../server/platform/http/app.ts';
import { identifyCaller, requireCaller } from '../../../server/platform/http/authentication.ts';
import { limitRequests } from '../../../server/platform/http/rate-limit.ts';
import { silentLog } from '../../harness/silent-log.ts';

const person = { kind: 'user', id: 'ada', teamId: 't', role: 'viewer' } as const;
const CALLERS: Record<string, Principal> = {
  own: person,
  client: { ...person, clientId: 'a program of the team' },
  key: { kind: 'api_key', id: 'key', teamId: 't', role: 'admin' },
};

/** How many of so many requests in one moment are let through. */
async function allowed(app: App, caller: string, requests: number): Promise<number> {
  let count = 0;
  for (let request = 0; request < requests; request += 1) {
    const { statusCode } = await app.inject({ url: '/x', headers: { authorization: `Bearer ${caller}` } });
    if (statusCode === 200) count += 1;
    else expect(statusCode).toBe(429);
  }
  return count;
}

test('a person has 600 requests a minute in the first-party application; keys and clients have exactly 60', async () => {
  const app = createApp({ log: silentLog, now: () => 0 });
  await app.register(async (instance) => {
    const scope = instance as App;
    identifyCaller(scope, async (bearer) => CALLERS[bearer]);
    await limitRequests(scope, 'test', { perMinute: 60, monotonic: () => 1000 });
    requireCaller(scope);
    scope.get('/x', async () => 'x');
  });
  expect(await allowed(app, 'key', 65)).toBe(60);
  expect(await allowed(app, 'own', 605)).toBe(600);
  // Neither takes from the other.
  expect(await allowed(app, 'client', 65)).toBe(60);
  await app.close();
});
