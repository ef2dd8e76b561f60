import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

let world: World;
beforeAll(async () => {
  world = await World.start({ routers: [{ version: '7.18.2' }, { version: '6.49.18' }] });
});
afterAll(async () => world.close());

const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('routers are listed with all documented fields', async () => {
  const ids = await world.routerIds();
  const { status, body } = await world.caller.call<{ status: string; data: Record<string, unknown>[] }>('GET', '/api/routers');
  expect(status).toBe(200);
  expect(body.status).toBe('success');
  expect(body.data).toHaveLength(2);
  const seven = body.data.find((router) => router['id'] === ids[0])!;
  expect(seven).toMatchObject({
    identity: 'router-0',
    serial_number: 'SERIAL0',
    software_version: '7.18.2',
    software_id: expect.any(String),
    has_pulse: true,
    uptime: expect.stringMatching(/^(\d+[wdhms])+$/),
    last_seen: expect.stringMatching(/just now|seconds? ago/),
    last_seen_from: '127.0.0.1',
    hardware_board: true,
    model: expect.any(String),
    board_name: expect.any(String),
    last_seen_at: dateTime,
    created_at: dateTime,
  });
});

test('the list is paged', async () => {
  await world.routerIds();
  const first = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/routers?limit=1');
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')![1]!;
  const second = await world.caller.call<{ data: { id: string }[] }>('GET', next);
  expect(first.body.data).toHaveLength(1);
  expect(second.body.data).toHaveLength(1);
  expect(second.body.data[0]!.id).not.toBe(first.body.data[0]!.id);
  expect((await world.caller.call('GET', '/api/routers?cursor=junk')).status).toBe(422);
});

test('a router keeps its id when the agent reconnects', async () => {
  const before = await world.routerIds();
  await world.agent!.close();
  await world.startAgent();
  expect(await world.routerIds()).toEqual(before);
});

test('a router keeps its id when the control plane restarts', async () => {
  const before = await world.routerIds();
  await world.restartServer();
  expect(await world.routerIds()).toEqual(before);
});

test('an offline router stays offline across a restart of the control plane, and its fault stays open', async () => {
  const [dead, alive] = (await world.routerIds()) as [string, string];
  interface Shown {
    id: string;
    has_pulse: boolean;
    last_seen_at: string;
  }
  const show = async (id: string): Promise<Shown> =>
    (await world.caller.call<{ data: Shown[] }>('GET', '/api/routers')).body.data.find((router) => router.id === id)!;
  const openFault = async (): Promise<{ id: string; occurrences: number } | undefined> => {
    const { body } = await world.caller.call<{ data: { id: string; type: string; occurrences: number }[] }>(
      'GET',
      `/api/routers/${dead}/faults?status=open`,
    );
    return body.data.find(({ type }) => type === 'router_offline');
  };
  const { faults } = world.simulators[0]!;
  faults.refuseConnections = true;
  faults.resetConnections();
  await waitUntil('it is a fault', openFault);
  // A connection that was being made meanwhile may have been answered once more.
  const heard = (await show(alive)).last_seen_at;
  await waitUntil('a heartbeat later', async () => (await show(alive)).last_seen_at > heard);
  const fault = await waitUntil('it is a fault still', openFault);
  const before = await show(dead);
  await world.restartServer();
  const restartedAt = new Date().toISOString();
  // Two heartbeats later, whatever the agent says at first has been taken in.
  const first = await waitUntil('the agent is back', async () => (({ last_seen_at: at }) => at > restartedAt && at)(await show(alive)));
  await waitUntil('it goes on', async () => (await show(alive)).last_seen_at > first);
  expect(await show(dead)).toMatchObject({ has_pulse: false, last_seen_at: before.last_seen_at });
  expect(await openFault()).toMatchObject({ id: fault.id, occurrences: fault.occurrences });
  faults.refuseConnections = false;
  await waitUntil('it is back', async () => (await show(dead)).has_pulse);
});
