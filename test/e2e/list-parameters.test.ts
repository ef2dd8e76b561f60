import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from '../harness/world.ts';

/** All lists answer bad and unknown parameters alike. */

interface Operation {
  parameters?: { name: string; in: string; schema: { enum?: string[] } }[];
}

let world: World;
let lists: string[];

beforeAll(async () => {
  world = await World.start({ routers: [] });
  const { body } = await world.caller.call<{ paths: Record<string, { get?: Operation }> }>('GET', '/openapi.json');
  lists = Object.entries(body.paths)
    .filter(([path, { get }]) => !path.includes('{') && get?.parameters?.some(({ name }) => name === 'limit'))
    .map(([path]) => path);
});
afterAll(() => world.close());

test('the lists of notifications are among them', () => {
  expect(lists).toEqual(expect.arrayContaining(['/api/jobs', '/api/notifications', '/api/threads', '/api/silences', '/api/groups']));
});

test('a parameter that a list does not know changes nothing', async () => {
  for (const path of lists) {
    const plain = await world.caller.call('GET', path);
    const unknown = await world.caller.call('GET', `${path}?no_such_filter=1&limit=7`);
    expect([path, unknown.status, unknown.body['data']]).toEqual([path, 200, plain.body['data']]);
  }
});

test('a limit that is no number of records is refused by its name', async () => {
  for (const path of lists)
    for (const limit of ['0', '-1', 'all', '1000000']) {
      const answer = await world.caller.call('GET', `${path}?limit=${limit}`);
      expect([path, limit, answer.status, answer.body['errors']]).toEqual([path, limit, 422, { limit: [expect.any(String)] }]);
    }
});
