import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptInvitation, invite, setPasswordBy } from '../harness/identity/links.ts';
import { addUser, beginProgramFlow, allowProgram, PASSWORD, signIn } from '../harness/identity/sign-in.ts';
import { World } from '../harness/world.ts';
import type { Caller } from '../harness/world.ts';

/**
 * Administrators of the installation see and drain the control planes. Administrators of two teams, who are none, try to become one: by what
 * they may do with members, and by getting at the account of one.
 */
let world: World;
let north: Caller;
let south: Caller;

beforeAll(async () => {
  world = await World.start({ routers: [] });
  north = world.caller;
  south = await world.addTeam('South');
});
afterAll(async () => world.close());

const tokenOf = async (email: string): Promise<string> => (await signIn(world, email)).access_token;

async function ask(bearer: string, method = 'GET', route = '/api/nodes'): Promise<number> {
  return (await fetch(`${world.server.url}${route}`, { method, headers: { authorization: `Bearer ${bearer}` } })).status;
}

async function isAdmin(bearer: string): Promise<boolean> {
  const answer = await fetch(`${world.server.url}/api/me`, { headers: { authorization: `Bearer ${bearer}` } });
  return ((await answer.json()) as { data: { installation_admin: boolean } }).data.installation_admin;
}

/** A person of North, who is an administrator of the installation and a viewer in the team. */
async function addInstaller(email: string): Promise<string> {
  const id = await addUser(world, email, 'viewer');
  await world.server.services.teams.setInstallationAdmin(email, true);
  return id;
}

const passwordLink = (team: Caller, id: string) =>
  team.call<{ code?: string; data?: { password_link: { url: string } } }>('POST', `/api/members/${id}/password`);

describe('the right', () => {
  test('is of the person, whatever the role, from the next request on, and ends as fast', async () => {
    await addUser(world, 'ada@example.org', 'viewer');
    const { teams } = world.server.services;
    const token = await tokenOf('ada@example.org');
    expect([await ask(token), await isAdmin(token)]).toEqual([403, false]);
    await teams.setInstallationAdmin('ada@example.org', true);
    expect([await ask(token), await isAdmin(token)]).toEqual([200, true]);
    await teams.setInstallationAdmin('ada@example.org', false);
    expect([await ask(token), await isAdmin(token)]).toEqual([403, false]);
  });

  test('comes with no role of a team, and with no key, also not with one that an administrator of the installation has made', async () => {
    await addUser(world, 'grace@example.org', 'admin');
    await world.server.services.teams.setInstallationAdmin('grace@example.org', true);
    await addUser(world, 'boss@example.org', 'admin');
    expect(await ask(await tokenOf('boss@example.org'))).toBe(403);
    const made = await fetch(`${world.server.url}/api/api-keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await tokenOf('grace@example.org')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'mine' }),
    });
    const { data } = (await made.json()) as { data: { api_key: string } };
    for (const key of [data.api_key, north.apiKey, south.apiKey]) {
      expect([await ask(key), await ask(key, 'POST', '/api/nodes/x/drain'), await ask(key, 'DELETE', '/api/nodes/x/drain')]).toEqual([
        403, 403, 403,
      ]);
      expect(await isAdmin(key)).toBe(false);
    }
  });

  test('does not reach a client of a team, which acts for the person', async () => {
    await addInstaller('hedy@example.org');
    const flow = await beginProgramFlow(world);
    const { access_token: token } = await flow.tokens(await allowProgram(flow, 'hedy@example.org'));
    expect([await ask(token, 'GET', '/api/me'), await ask(token), await isAdmin(token)]).toEqual([200, 403, false]);
  });

  test('cannot be written by whoever changes or invites members', async () => {
    const id = await addUser(world, 'mary@example.org', 'viewer');
    const more = { installation_admin: true, isInstallationAdmin: true };
    await north.call('PATCH', `/api/members/${id}`, { role: 'admin', ...more });
    const { body } = await north.call<{ data: { invitation: { url: string } } }>('POST', '/api/members', {
      email: 'jean@example.org',
      role: 'admin',
      ...more,
    });
    await acceptInvitation(world, body.data.invitation.url);
    for (const email of ['mary@example.org', 'jean@example.org']) expect(await isAdmin(await tokenOf(email))).toBe(false);
  });
});

describe('the account of an administrator of the installation', () => {
  test('has no password link from the administrators of its team, and one from before ends', async () => {
    const id = await addUser(world, 'joan@example.org', 'viewer');
    const before = await passwordLink(north, id);
    expect(before.status).toBe(200);
    await world.server.services.teams.setInstallationAdmin('joan@example.org', true);
    expect((await setPasswordBy(world, before.body.data!.password_link.url, 'known to north')).status).toBe(404);
    expect(await passwordLink(north, id)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await isAdmin(await tokenOf('joan@example.org'))).toBe(true);
    // The right taken away, the former link does not come back.
    await world.server.services.teams.setInstallationAdmin('joan@example.org', false);
    expect((await setPasswordBy(world, before.body.data!.password_link.url, 'known to north')).status).toBe(404);
    expect((await passwordLink(north, id)).status).toBe(200);
  });

  test('is not reached by an invitation of another team without its password', async () => {
    await addInstaller('rosa@example.org');
    const { url } = await invite(south, 'rosa@example.org', 'admin');
    for (const answer of [{ next: 'known to south' }, { current: 'a guess', next: 'known to south' }])
      expect((await acceptInvitation(world, url, answer)).status).toBe(422);
    expect(await isAdmin(await tokenOf('rosa@example.org'))).toBe(true);
  });

  test('keeps the right when a team switches it off or removes it, and the team does not get it', async () => {
    const id = await addInstaller('vera@example.org');
    const token = await tokenOf('vera@example.org');
    expect((await north.call('PATCH', `/api/members/${id}`, { active: false })).status).toBe(200);
    expect(await ask(token)).toBe(401);
    expect((await north.call('DELETE', `/api/members/${id}`)).status).toBe(204);
    const { url } = await invite(south, 'vera@example.org', 'viewer');
    expect((await acceptInvitation(world, url, { next: 'known to south' })).status).toBe(422);
    expect((await acceptInvitation(world, url, { current: PASSWORD, next: 'known to vera' })).status).toBe(200);
    expect(await isAdmin((await signIn(world, 'vera@example.org', 'known to vera')).access_token)).toBe(true);
  });

  test('is refused the right while an administrator knows its password, as versions before links had it', async () => {
    const id = await addUser(world, 'lise@example.org', 'viewer');
    const { teams, storage } = world.server.services;
    await storage.db.updateTable('users').set({ password_shared: 1 }).where('id', '=', id).execute();
    await expect(teams.setInstallationAdmin('lise@example.org', true)).rejects.toMatchObject({ code: 'conflict' });
    await teams.setPassword(id, 'known to lise');
    await teams.setInstallationAdmin('lise@example.org', true);
    expect(await isAdmin((await signIn(world, 'lise@example.org', 'known to lise')).access_token)).toBe(true);
  });
});
