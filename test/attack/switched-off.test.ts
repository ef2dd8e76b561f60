import * as oidc from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addUser,
  allowProgram,
  beginFlow,
  beginProgramFlow,
  CodeFlow,
  PASSWORD,
  signIn,
  signInToProgram,
} from '../harness/identity/sign-in.ts';
import { World } from '../harness/world.ts';

let world: World;
beforeAll(async () => {
  world = await World.start({ routers: [] });
});
afterAll(async () => world.close());

test('a stolen session stays invalid after the member was deactivated and activated again', async () => {
  const email = 'robbed@example.org';
  const id = await addUser(world, email, 'operator');
  const flow = await beginFlow(world);
  const { url } = await flow.browser.submit(await flow.browser.open(await flow.url()), '/login', { email, password: PASSWORD });
  const stolen = await flow.tokens(url);
  const program = await signInToProgram(world, email);
  for (const active of [false, true]) expect((await world.caller.call('PATCH', `/api/members/${id}`, { active })).status).toBe(200);
  const me = await fetch(`${world.server.url}/api/me`, { headers: { authorization: `Bearer ${stolen.access_token}` } });
  const refreshed = await oidc.refreshTokenGrant(program.flow.config, program.refreshToken).then(
    () => 'refreshed',
    (error: { error: string }) => error.error,
  );
  const page = await flow.browser.open(await new CodeFlow(flow.config, flow.browser, flow.redirectUri).url());
  expect([me.status, refreshed, page.html.includes('<h1>Sign in</h1>')]).toEqual([401, 'invalid_grant', true]);
  // Whoever signs in again is back, at once.
  expect((await signIn(world, email)).access_token).toBeDefined();
});

test("an administrator cannot end the user's sessions in another team", async () => {
  const south = await world.addTeam('South');
  const email = 'shared@example.org';
  const id = await addUser(world, email, 'operator');
  await world.server.services.teams.createUser({ teamId: south.teamId, email, role: 'operator' });
  const flow = await beginProgramFlow(world, south.teamId);
  const { refresh_token: token } = await flow.tokens(await allowProgram(flow, email));
  for (const active of [false, true]) expect((await world.caller.call('PATCH', `/api/members/${id}`, { active })).status).toBe(200);
  const { access_token: bearer } = await oidc.refreshTokenGrant(flow.config, token!);
  const me = await fetch(`${world.server.url}/api/me`, { headers: { authorization: `Bearer ${bearer}` } });
  expect(await me.json()).toMatchObject({ data: { team: { id: south.teamId } } });
});
