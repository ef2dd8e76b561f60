import { afterAll, beforeAll, expect, test } from 'vitest';
import { onceTold } from '../harness/cluster/once-told.ts';
import type { Answer } from '../harness/world.ts';
import { World } from '../harness/world.ts';

/** `PATCH` of a forward as API users see it, on a v6 and a v7 router. */

interface Shown {
  id: string;
  expires_at: string;
  allow_only_cidr: string;
  authorized_at: string | null;
  way: string | null;
}

let world: World;
let routerIds: string[];
beforeAll(async () => {
  world = await World.start({ routers: [{ version: '6.49.18' }, { version: '7.18.2' }] });
  routerIds = await world.routerIds();
});
afterAll(() => world.close());

const route = (router: number): string => `/api/routers/${routerIds[router]!}/transient-forwarding`;

async function made(router: number): Promise<Shown> {
  const body = { expire_after_minutes: 10, dst_port: 9, dst_address: '127.0.0.5', allow_from: '127.0.0.1' };
  return (await world.caller.call<Shown>('POST', route(router), body)).body;
}

function change<T = Shown>(router: number, id: string, body: object, headers: Record<string, string> = {}): Promise<Answer<T>> {
  return world.caller.call<T>('PATCH', `${route(router)}/${id}`, body, headers);
}

const fromNow = (time: string): number => Math.round((Date.parse(time) - Date.now()) / 60_000);

test.each([0, 1])('a forward is extended, shortened and given another source on router %i', async (router) => {
  const forward = await made(router);
  const longer = await change(router, forward.id, { expire_after_minutes: 90 });
  expect(longer.status).toBe(200);
  expect(longer.body).toMatchObject({ id: forward.id, authorized_at: forward.authorized_at, way: forward.way });
  expect(fromNow(longer.body.expires_at)).toBe(90);
  const other = await change(router, forward.id, { allow_from: '203.0.113.9/24' });
  expect(other.body).toMatchObject({ allow_only_cidr: '203.0.113.0/24', expires_at: longer.body.expires_at });
  const shorter = await change(router, forward.id, { expire_after_minutes: 20, allow_from: '203.0.113.7' });
  expect(fromNow(shorter.body.expires_at)).toBe(20);
  expect(shorter.body.allow_only_cidr).toBe('203.0.113.7/32');
  expect((await world.caller.call('GET', `${route(router)}/${forward.id}`)).body).toMatchObject({ expires_at: shorter.body.expires_at });
});

test('a repeat with the same Idempotency-Key gets the first answer and does not extend again', async () => {
  const { id } = await made(1);
  const key = { 'idempotency-key': 'extend-once' };
  const first = await change(1, id, { expire_after_minutes: 60 }, key);
  await change(1, id, { expire_after_minutes: 30 });
  const again = await change(1, id, { expire_after_minutes: 60 }, key);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(again.body).toEqual(first.body);
  const { body: now } = await world.caller.call<Shown>('GET', `${route(1)}/${id}`);
  expect(fromNow(now.expires_at)).toBe(30);
  expect((await change(1, id, { expire_after_minutes: 61 }, key)).status).toBe(422);
});

test.each([
  [{}, 'name expire_after_minutes, allow_from or both'],
  [{ expire_after_minutes: 9 }, 'expire_after_minutes'],
  [{ expire_after_minutes: 1441 }, 'expire_after_minutes'],
  [{ allow_from: '203.0.113.0/16' }, 'the prefix length must be from /24 to /32'],
  [{ dst_port: 22 }, 'name expire_after_minutes, allow_from or both'],
])('%j is refused with the reason', async (body, reason) => {
  const { id } = await made(1);
  const answer = await change<{ code: string }>(1, id, body);
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code: 'invalid' });
  expect(JSON.stringify(answer.body)).toContain(reason);
});

test('a revoked forward answers with a conflict', async () => {
  const { id } = await made(1);
  await world.caller.call('DELETE', `${route(1)}/${id}`);
  expect((await change<{ code: string }>(1, id, { expire_after_minutes: 60 })).body.code).toBe('conflict');
});

test('the audit log has the new end and source', async () => {
  const { id } = await made(1);
  const { body } = await change(1, id, { expire_after_minutes: 60, allow_from: '203.0.113.7' });
  const route = encodeURIComponent('PATCH /api/routers/:router_id/transient-forwarding/:id');
  await onceTold(async () => {
    const { body: log } = await world.caller.call<{ data: { detail: string | null }[] }>('GET', `/api/audit?action=${route}`);
    expect(log.data[0]?.detail).toBe(`until ${body.expires_at} for 203.0.113.7/32 (forward ${id})`);
  });
});
