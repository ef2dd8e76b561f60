import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from '../harness/world.ts';

let world: World;
beforeAll(async () => {
  world = await World.start({ routers: [{ version: '7.18.2' }, { version: '6.49.18' }] });
});
afterAll(async () => world.close());

const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('routers are listed with every field of the interface', async () => {
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

test('a list has pages', async () => {
  await world.routerIds();
  const first = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/routers?limit=1');
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')![1]!;
  const second = await world.caller.call<{ data: { id: string }[] }>('GET', next);
  expect(first.body.data).toHaveLength(1);
  expect(second.body.data).toHaveLength(1);
  expect(second.body.data[0]!.id).not.toBe(first.body.data[0]!.id);
  expect((await world.caller.call('GET', '/api/routers?cursor=junk')).status).toBe(422);
});

test('a router keeps its id when the agent comes again', async () => {
  const before = await world.routerIds();
  await world.agent!.close();
  await world.startAgent();
  expect(await world.routerIds()).toEqual(before);
});

test('a router keeps its id when the control plane comes again', async () => {
  const before = await world.routerIds();
  await world.restartServer();
  expect(await world.routerIds()).toEqual(before);
});
