import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptInvitation, invite } from '../harness/identity/links.ts';
import { beginFlow, signIn } from '../harness/identity/sign-in.ts';
import { World } from '../harness/world.ts';
import type { Caller } from '../harness/world.ts';

/** Administrators of two teams on one server: the first one wants to get into the second team. */
let world: World;
let north: Caller;
let south: Caller;

beforeAll(async () => {
  world = await World.start({ routers: [] });
  north = world.caller;
  south = await world.addTeam('South');
});
afterAll(async () => world.close());

async function ask(token: string, method: string, path: string, body?: object): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (await fetch(`${world.server.url}${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })).status;
}

/** Signs in and tries to get into the team. @returns the answer to "make me an API key there"; undefined without a way in */
async function breakInto(team: Caller, email: string, password: string): Promise<number | undefined> {
  const flow = await beginFlow(world);
  let page = await flow.browser.submit(await flow.browser.open(await flow.url()), '/login', { email, password });
  if (page.html.includes('Choose a team')) page = await flow.browser.submit(page, '/confirm', { team: team.teamId });
  if (!page.url.includes('code=')) return undefined;
  const { access_token: token } = await flow.tokens(page.url);
  return decodeJwt(token)['team'] === team.teamId ? ask(token, 'POST', '/api/api-keys', { name: 'stolen' }) : undefined;
}

test('an administrator who made the account of a person does not get into the next team that invites them', async () => {
  const email = 'victim@example.org';
  // North opens the link itself instead of handing it out, and so knows the first password.
  expect((await acceptInvitation(world, (await invite(north, email)).url, { next: 'known to north' })).status).toBe(200);
  const { access_token: token } = await signIn(world, email, 'known to north');
  expect(await ask(token, 'POST', '/api/me/password', { current_password: 'known to north', new_password: 'still known to north' })).toBe(204);

  const { url } = await invite(south, email, 'admin');
  expect(await breakInto(south, email, 'still known to north')).toBeUndefined();

  // The person joins, and what North knows is worth nothing: neither the password nor the session that it kept open.
  const kept = await beginFlow(world);
  await kept.browser.submit(await kept.browser.open(await kept.url()), '/login', { email, password: 'still known to north' });
  expect((await acceptInvitation(world, url, { current: 'still known to north', next: 'known to nobody else' })).status).toBe(200);
  expect(await breakInto(south, email, 'still known to north')).toBeUndefined();
  expect((await kept.browser.open(await kept.url())).html).toContain('Sign in');
  expect(await breakInto(south, email, 'known to nobody else')).toBe(200);
});
