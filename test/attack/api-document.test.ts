import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from '../harness/world.ts';

let world: World;
beforeAll(async () => {
  world = await World.start({ routers: [] });
});
afterAll(async () => world.close());

/** Processor time of this process, milliseconds: other programs on the machine do not count. */
function used(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

test('a stranger who asks for the API document first does not keep other requests waiting while it is built', async () => {
  let longest = 0;
  let last = used();
  let isWatching = true;
  const watch = (): void => {
    const now = used();
    longest = Math.max(longest, now - last);
    last = now;
    if (isWatching) setImmediate(watch);
  };
  const started = used();
  setImmediate(watch);
  const answer = await fetch(`${world.server.url}/openapi.json`);
  await answer.arrayBuffer();
  const whole = used() - started;
  isWatching = false;
  expect(answer.status).toBe(200);
  // In one piece it would be nearly all of it.
  expect(longest).toBeLessThan(whole / 2);
});

test.each(['/docs/json', '/docs/yaml'])('a stranger who asks for %s gets the document that is kept, and has none built', async (path) => {
  const kept = await fetch(`${world.server.url}/openapi.json`);
  const answer = await fetch(`${world.server.url}${path}`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await answer.text()).toBe(await kept.text());
});
