import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addUser, signIn } from '../harness/identity/sign-in.ts';
import { World } from '../harness/world.ts';

let world: World;
beforeAll(async () => {
  world = await World.start({ routers: [] });
});
afterAll(async () => world.close());

describe('signing in', () => {
  test('code and PKCE end in a token that the API takes', async () => {
    const id = await addUser(world, 'ada@example.org', 'operator');
    const tokens = await signIn(world, 'ada@example.org');
    expect(tokens.claims()).toMatchObject({ sub: id, email: 'ada@example.org' });
    const answer = await fetch(`${world.server.url}/api/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await answer.json()).toMatchObject({ data: { id, kind: 'user', email: 'ada@example.org', role: 'operator', team: { id: world.caller.teamId } } });
  });
});
