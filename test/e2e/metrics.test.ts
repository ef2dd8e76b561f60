import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from '../harness/world.ts';

let world: World;
beforeAll(async () => {
  // Each control plane shows its own agents; team-metrics.test.ts adds them up.
  world = await World.start({ spread: false });
  await world.routerIds();
});
afterAll(async () => world.close());

const read = (bearer: string) => fetch(`${world.server.url}/internal/metrics`, { headers: { authorization: `Bearer ${bearer}` } });

test('a service token reads the metrics, which have routes and no ids', async () => {
  const { token } = await world.server.services.credentials.createServiceToken('prometheus');
  const [id] = await world.routerIds();
  await world.caller.call('GET', `/api/routers/${id}/jobs`);
  const text = await (await read(token)).text();
  expect(text).toContain('signalbox_connected_agents 1');
  expect(text).toContain('signalbox_queued_jobs 0');
  expect(text).toMatch(
    /signalbox_http_request_duration_seconds_count\{method="GET",route="\/api\/routers\/:router_id\/jobs",status="200"\} \d+/,
  );
  expect(text).toContain('signalbox_shared_limit{resource="webhook_attempts"} 64');
  expect(text).toContain('signalbox_notifications_total{channel="ntfy",outcome="sent"} 0');
  expect(text).toContain('signalbox_notifications_oldest_due_seconds 0');
  expect(text).toContain('signalbox_shared_in_use{resource="event_streams"} 0');
  expect(text).toContain('signalbox_shared_refusals_total{resource="forward_ports",limit="team"} 0');
  expect(text).not.toContain(id);
});

test('an API key cannot read the metrics', async () => {
  expect((await read(world.caller.apiKey)).status).toBe(401);
});
