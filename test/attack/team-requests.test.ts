import { afterAll, beforeAll, expect, test } from 'vitest';
import { TeamRequests } from '../../server/platform/http/team-requests.ts';
import type { Principal } from '../../server/platform/core/principal.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { World } from '../harness/world.ts';
import type { Caller } from '../harness/world.ts';

/** A team of many API keys that asks as fast as all of them may. */

let world: World;
beforeAll(async () => {
  world = await World.start({ routers: [], server: { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '2' } });
});
afterAll(() => world.close());

test('a team that uses up its share is refused with a retry time; another team is not', async () => {
  const hostile = await world.addTeam('Hostile');
  const { credentials: auth } = world.server.services;
  const answers: { status: number; retryAfter: string | null }[] = [];
  const ask = async (apiKey: string): Promise<void> => {
    const answer = await fetch(`${world.server.url}/api/routers`, { headers: { authorization: `Bearer ${apiKey}` } });
    await answer.arrayBuffer();
    answers.push({ status: answer.status, retryAfter: answer.headers.get('retry-after') });
  };
  const keys = await Promise.all(
    Array.from(
      { length: 200 },
      async (_, n) => (await auth.createApiKey({ teamId: hostile.teamId, name: `key ${n}`, createdBy: null })).apiKey,
    ),
  );
  for (let n = 0; n < keys.length; n += 20) await Promise.all(keys.slice(n, n + 20).flatMap((key) => [ask(key), ask(key)]));
  const refused = answers.filter(({ status }) => status === 429);
  // 200 keys with two requests each: a team may make 150 times as many as a key.
  expect(answers.length - refused.length).toBeLessThanOrEqual(300);
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(290);
  for (const { retryAfter } of refused) expect(Number(retryAfter)).toBeGreaterThan(0);
  const neighbour: Caller = await world.addTeam('Neighbour');
  expect((await neighbour.call('GET', '/api/routers')).status).toBe(200);
  expect(world.server.services.counters.get('requests_per_team')).toBe(refused.length);
});

test('each key of a small team gets its full limit, and an idle key is served in a greedy team', () => {
  const clock = new ManualClock();
  const teams = new TeamRequests(60, 60_000, () => clock.monotonic());
  const of = (id: string): Principal => ({ kind: 'api_key', id, teamId: 'team', role: 'viewer' });
  for (let n = 0; n < 140; n += 1) for (let i = 0; i < 60; i += 1) expect(teams.take(of(`key ${n}`))).toBe(0);
  // 1,000 keys that each ask as often as a key may.
  let served = 140 * 60;
  for (let i = 0; i < 60; i += 1) for (let n = 200; n < 1060; n += 1) if (teams.take(of(`key ${n}`)) === 0) served += 1;
  expect(served).toBeLessThanOrEqual(9000);
  clock.advance(61_000);
  expect(teams.take(of('key 0'))).toBe(0);
});

test('greedy keys leave room for an idle key', () => {
  const clock = new ManualClock();
  const teams = new TeamRequests(60, 60_000, () => clock.monotonic());
  const of = (id: string): Principal => ({ kind: 'api_key', id, teamId: 'team', role: 'viewer' });
  for (let i = 0; i < 60; i += 1) for (let n = 0; n < 155; n += 1) teams.take(of(`greedy ${n}`));
  expect(teams.take(of('greedy 0'))).toBeGreaterThan(0);
  expect(teams.take(of('honest'))).toBe(0);
});
