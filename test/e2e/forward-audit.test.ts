import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { EntryRecorder } from '../../server/work/forwards/connect/entry-recorder.ts';
import { onceTold } from '../harness/cluster/once-told.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { World } from '../harness/world.ts';

/** Audit entries of forwards: creator, target, and clients of the WebSocket entry. */

interface Entry {
  actor_kind: string;
  actor_id: string;
  source: string;
  action: string;
  target: string;
  detail: string | null;
  result: number;
}

let world: World;
let routerId: string;
beforeAll(async () => {
  world = await World.start();
  routerId = (await world.routerIds())[0]!;
});
afterAll(() => world.close());

const entries = async (action: string): Promise<Entry[]> =>
  (await world.caller.call<{ data: Entry[] }>('GET', `/api/audit?action=${encodeURIComponent(action)}`)).body.data;

async function makeForward(): Promise<string> {
  const body = { expire_after_minutes: 10, dst_port: 9, dst_address: '127.0.0.1', allow_from: '192.0.2.1' };
  return (await world.caller.call<{ id: string }>('POST', `/api/routers/${routerId}/transient-forwarding`, body)).body.id;
}

/** @returns the status of a refusal, 101 for an entry */
async function enter(id: string, key: string): Promise<number> {
  const url = `${world.server.url.replace('http', 'ws')}/api/routers/${routerId}/transient-forwarding/${id}/connect`;
  const ws = new WebSocket(url, 'signalbox.connect.v1', { headers: { authorization: `Bearer ${key}` } });
  ws.on('error', () => undefined);
  const refused = new Promise<number>((resolve) => ws.once('unexpected-response', (_request, answer) => resolve(answer.statusCode!)));
  const status = await Promise.race([refused, once(ws, 'open').then(() => 101)]);
  ws.terminate();
  return status;
}

test('a creation records the forward and its target', async () => {
  const id = await makeForward();
  await onceTold(async () => {
    const [made] = await entries('POST /api/routers/:router_id/transient-forwarding');
    expect(made).toMatchObject({ result: 200, detail: `to 127.0.0.1:9 for 192.0.2.1/32 (forward ${id})` });
  });
});

test('an end records which forward it was', async () => {
  const id = await makeForward();
  await world.caller.call('DELETE', `/api/routers/${routerId}/transient-forwarding/${id}`);
  await onceTold(async () => {
    const [ended] = await entries('DELETE /api/routers/:router_id/transient-forwarding/:id');
    expect(ended).toMatchObject({ result: 204, detail: `to 127.0.0.1:9 for 192.0.2.1/32 (forward ${id})` });
  });
});

test('the log records each WebSocket connection with user, source and forward, and each refusal', async () => {
  const { services } = world.server;
  const viewer = await services.credentials.createApiKey({ teamId: world.caller.teamId, name: 'viewer', role: 'viewer', createdBy: null });
  const id = await makeForward();
  expect(await enter(id, world.caller.apiKey)).toBe(101);
  expect(await enter(id, world.caller.apiKey)).toBe(101);
  expect(await enter(id, viewer.apiKey)).toBe(403);
  expect(await enter(id, 'nobody')).toBe(401);
  await world.caller.call('DELETE', `/api/routers/${routerId}/transient-forwarding/${id}`);
  expect(await enter(id, world.caller.apiKey)).toBe(409);
  const action = 'GET /api/routers/:router_id/transient-forwarding/:id/connect';
  const listed = await entries(action);
  expect(listed.map(({ result }) => result)).toEqual([409, 403, 101]);
  expect(listed[2]).toMatchObject({
    actor_kind: 'api_key',
    source: '127.0.0.1',
    action,
    target: `/api/routers/${routerId}/transient-forwarding/${id}/connect`,
  });
  expect(listed[1]!.actor_id).not.toBe(listed[2]!.actor_id);
});

test('sixty connections of a browser make one entry per minute', () => {
  const clock = new ManualClock(1_700_000_000_000);
  const recorded: unknown[] = [];
  const recorder = new EntryRecorder(clock, (entry) => recorded.push(entry));
  const entry = { team_id: 't', actor_kind: 'user', actor_id: 'a', source: '203.0.113.7', action: 'GET', target: '/f', result: 101 };
  for (let count = 0; count < 60; count += 1) recorder.record(entry);
  expect(recorded).toEqual([entry]);
  for (const other of [{ actor_id: 'b' }, { source: '203.0.113.8' }, { target: '/g' }, { result: 409 }])
    recorder.record({ ...entry, ...other });
  expect(recorded).toHaveLength(5);
  clock.advance(59_999);
  recorder.record(entry);
  expect(recorded).toHaveLength(5);
  clock.advance(1);
  recorder.record(entry);
  recorder.record(entry);
  expect(recorded).toHaveLength(6);
});
