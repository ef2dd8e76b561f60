import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../harness/world.ts';
import { World } from '../harness/world.ts';

/**
 * Two teams, every route: nothing of one is visible to or usable by the other, and the answer is the one for a record
 * that does not exist. A new route of `/openapi.json` that is missing here fails the last test.
 */
let world: World;
let other: Caller;
let routerId: string;
let forwardId: string;
let jobId: string;

beforeAll(async () => {
  world = await World.start();
  [routerId] = (await world.routerIds()) as [string];
  other = await world.addTeam('Other');
  const forward = await world.caller.call<{ id: string }>('POST', `/api/routers/${routerId}/transient-forwarding`, forwardBody);
  forwardId = forward.body.id;
  await world.caller.call('POST', `/api/asynchronous/${routerId}`, jobBody);
  const jobs = await world.caller.call<{ data: { id: string }[] }>('GET', `/api/routers/${routerId}/jobs`);
  jobId = jobs.body.data[0]!.id;
});
afterAll(async () => world.close());

const forwardBody = { expire_after_minutes: 10, dst_port: 80, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };
const jobBody = { description: 'x', script: ':put 1', make_backup: false, express_execute: true, needs_acknowledgement: true };
const commandBody = { command: '/system/identity/print', parameters: '' };

/** Method and path as the OpenAPI document has them, and the body that its owner may send. */
const routes: [string, string, unknown?][] = [
  ['GET', '/api/routers/{router_id}/jobs'],
  ['GET', '/api/routers/{router_id}/jobs/{job_id}'],
  ['DELETE', '/api/routers/{router_id}/jobs/{job_id}'],
  ['GET', '/api/routers/{router_id}/transient-forwarding'],
  ['GET', '/api/routers/{router_id}/transient-forwarding/{id}'],
  ['GET', '/api/routers/{router_id}/transient-forwarding/{id}/connections'],
  ['DELETE', '/api/routers/{router_id}/transient-forwarding/{id}'],
  ['POST', '/api/routers/{router_id}/transient-forwarding', forwardBody],
  ['POST', '/api/asynchronous/{router_id}', jobBody],
  ['POST', '/api/synchronous/{router_id}', commandBody],
];

const fill = (path: string) =>
  path.replace('{router_id}', routerId).replace('{job_id}', jobId).replace('{id}', forwardId);

describe('the other team', () => {
  test.each(routes)('%s %s is 404', async (method, path, body) => {
    const { status, body: problem } = await other.call(method, fill(path), body);
    expect(status).toBe(404);
    expect(problem).toMatchObject({ code: 'not_found' });
  });

  test('sees no router in the list', async () => {
    expect((await other.call('GET', '/api/routers')).body).toEqual({ status: 'success', data: [] });
  });
});

test('the owner is answered on the same routes', async () => {
  for (const [method, path, body] of routes.filter(([method]) => method !== 'DELETE')) {
    expect((await world.caller.call(method, fill(path), body)).status, `${method} ${path}`).toBe(200);
  }
});

describe('without a right credential', () => {
  test.each([
    ['none', {}],
    ['malformed', { authorization: 'Bearer abc' }],
    ['of another shape', { authorization: 'Basic YTpi' }],
    ['of no key', { authorization: `Bearer 01890000-0000-7000-8000-000000000000:01890000-0000-7000-8000-000000000000:${'a'.repeat(62)}` }],
  ])('%s: 401 with a body on every route', async (_name, headers) => {
    for (const [method, path] of [['GET', '/api/routers'] as const, ...routes]) {
      const answer = await fetch(`${world.server.url}${fill(path)}`, { method, headers: headers as Record<string, string> });
      expect(answer.status, `${method} ${path}`).toBe(401);
      expect(await answer.json()).toMatchObject({ status: 401, code: 'unauthenticated', message: expect.any(String) });
    }
  });

  test('a key of another team with this team’s id is refused', async () => {
    const [tokenId, , secret] = other.apiKey.split(':');
    const forged = `${tokenId}:${world.caller.teamId}:${secret}`;
    const answer = await fetch(`${world.server.url}/api/routers`, { headers: { authorization: `Bearer ${forged}` } });
    expect(answer.status).toBe(401);
  });

  test('a revoked key is refused at once', async () => {
    const { auth } = world.server.services;
    const { key, apiKey } = await auth.createApiKey({ teamId: world.caller.teamId, name: 'short', createdBy: null });
    const ask = () => fetch(`${world.server.url}/api/routers`, { headers: { authorization: `Bearer ${apiKey}` } });
    expect((await ask()).status).toBe(200);
    await auth.revokeApiKey(world.caller.teamId, key.id);
    expect((await ask()).status).toBe(401);
  });
});

test('every route of the OpenAPI document with an id in its path is in the table', async () => {
  const document = (await (await fetch(`${world.server.url}/openapi.json`)).json()) as { paths: Record<string, Record<string, unknown>> };
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const tested = new Set([...routes.map(([method, path]) => `${method} ${path}`), 'GET /api/routers']);
  expect(documented.filter((route) => !tested.has(route))).toEqual([]);
});
