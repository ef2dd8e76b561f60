import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../server/platform/core/clock.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

const HOUR = 3_600_000;

let world: World;
let setByMs = 0;

beforeAll(async () => {
  const clock = { ...systemClock, now: () => Date.now() + setByMs };
  // A step of all clocks but that of the database is nothing that happens to several.
  world = await World.start({ routers: [{ identity: 'riga' }], overrides: { clock }, spread: false });
});
afterAll(() => world.close());

interface Routers {
  data: { id: string; has_pulse: boolean }[];
}

test.each([
  ['two hours back', -2 * HOUR],
  ['a day ahead', 24 * HOUR],
])('a running control plane whose clock is set %s expires no job and loses no router', async (_step, stepMs) => {
  const router = await waitUntil('the router has a pulse', async () => {
    const { body } = await world.caller.call<Routers>('GET', '/api/routers');
    return body.data.find((each) => each.has_pulse);
  });
  await world.agent!.close();
  const job = {
    description: 'd',
    script: ':put 1',
    make_backup: false,
    express_execute: false,
    needs_acknowledgement: true,
    deliver_within_minutes: 60,
  };
  const path = `/api/asynchronous/${router.id}`;
  const made = await world.caller.call<{ data: { job_id: string } }>('POST', path, job);
  expect(made.status).toBe(200);
  const read = async () =>
    (
      await world.caller.call<{ data: { status: string; expires_at: string } }>(
        'GET',
        `/api/routers/${router.id}/jobs/${made.body.data.job_id}`,
      )
    ).body.data;
  const before = await read();
  setByMs += stepMs;
  const after = await waitUntil('the step has been noticed', async () => {
    const now = await read();
    return now.expires_at === before.expires_at ? undefined : now;
  });
  expect(after.status).toBe('pending');
  const movedByMs = Date.parse(after.expires_at) - Date.parse(before.expires_at);
  expect(Math.abs(movedByMs - stepMs)).toBeLessThan(1000);
  const { body } = await world.caller.call<Routers>('GET', '/api/routers');
  expect(body.data.map(({ has_pulse: pulse }) => pulse)).toEqual([true]);
  await world.startAgent();
});
