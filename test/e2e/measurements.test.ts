import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

interface Steps {
  data: { from: string; to: string; step_seconds: number; steps: Record<string, unknown>[] };
}

const READ_EVERY_MS = 300;
let world: World;
let routerId = '';
let agentId = '';

beforeAll(async () => {
  // What was measured within the last minute is at the control plane with the tunnel.
  world = await World.start({ readEveryMs: READ_EVERY_MS, spread: false });
  [routerId] = (await world.routerIds()) as [string];
  const agents = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/agents');
  agentId = agents.body.data[0]!.id;
});
afterAll(() => world.close());

const read = (path: string) => world.caller.call<Steps>('GET', path);

test('the health that an agent reports is shown over time', async () => {
  const { data } = await waitUntil('health was reported', async () => {
    const { body } = await read(`/api/routers/${routerId}/health`);
    return body.data.steps.length > 0 && body;
  });
  expect(data.step_seconds).toBe(900);
  expect(Date.parse(data.to) - Date.parse(data.from)).toBeGreaterThanOrEqual(24 * 3_600_000);
  const spread = { min: expect.any(Number), mean: expect.any(Number), max: expect.any(Number) };
  expect(data.steps.at(-1)).toMatchObject({ cpu_load_percent: spread, memory_used_percent: spread, disk_used_percent: spread });
  // It is in the database, not only in memory.
  await world.restartServer();
  const { body } = await read(`/api/routers/${routerId}/health?step=1h`);
  expect(body.data.steps.length).toBeGreaterThan(0);
});

test('the pings of tunnels are shown over time', async () => {
  for (const roundTripMs of [12, 14, null])
    world.server.services.sessions.pings.publish({ teamId: world.caller.teamId, agentId, roundTripMs });
  const { body } = await read(`/api/agents/${agentId}/link`);
  const last = body.data.steps.at(-1);
  expect(last).toMatchObject({ pings_lost: 1, round_trip_ms: { p50: expect.any(Number), p95: expect.any(Number) } });
  expect(last!['pings_sent']).toBeGreaterThanOrEqual(3);
});

test.each([
  ['from=2031-05-01T00:00:00Z&to=2031-04-01T00:00:00Z', 'from'],
  ['from=2001-05-01T00:00:00Z&to=2031-04-01T00:00:00Z&step=1h', 'step'],
  ['step=5m', 'step'],
  ['from=yesterday', 'from'],
])('%s is refused, and the answer names %s', async (query, field) => {
  for (const path of [`/api/routers/${routerId}/health`, `/api/agents/${agentId}/link`]) {
    const { status, body } = await read(`${path}?${query}`);
    expect(status, path).toBe(422);
    expect(Object.keys((body as unknown as { errors: object }).errors)).toEqual([field]);
  }
});

test('a range of years is answered in days', async () => {
  const { body } = await read(`/api/routers/${routerId}/health?from=2029-05-01T00:00:00Z&to=2031-05-01T00:00:00Z`);
  expect(body.data).toMatchObject({ step_seconds: 86_400, steps: [] });
});
