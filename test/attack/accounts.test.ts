import { decodeJwt } from 'jose';
import { sql } from 'kysely';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStorage } from '../../server/platform/storage/open.ts';
import { onceTold } from '../harness/cluster/once-told.ts';
import { acceptInvitation, invite, setPasswordBy } from '../harness/identity/links.ts';
import { allowProgram, beginFlow, beginProgramFlow, CodeFlow, signIn } from '../harness/identity/sign-in.ts';
import { silentLog } from '../harness/silent-log.ts';
import { World } from '../harness/world.ts';
import type { Caller } from '../harness/world.ts';

/** Administrators of two teams on one server: the first tries to enter the second team. */
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

test("an administrator who created a person's account cannot enter the next team that invites the person", async () => {
  const email = 'victim@example.org';
  // North opens the link itself instead of handing it out, and so knows the first password.
  expect((await acceptInvitation(world, (await invite(north, email)).url, { next: 'known to north' })).status).toBe(200);
  const { access_token: token } = await signIn(world, email, 'known to north');
  expect(await ask(token, 'POST', '/api/me/password', { current_password: 'known to north', new_password: 'still known to north' })).toBe(
    204,
  );

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

test('a sign-in that started before a password change gives no session', async () => {
  const email = 'raced@example.org';
  await acceptInvitation(world, (await invite(north, email)).url, { next: 'known to north' });
  const { url } = await invite(south, email, 'admin');
  const flow = await beginFlow(world);
  const { url: back } = await flow.browser.submit(await flow.browser.open(await flow.url()), '/login', {
    email,
    password: 'known to north',
  });
  const tokens = await flow.tokens(back);
  const program = await beginProgramFlow(world, north.teamId);
  const { refresh_token: kept } = await program.tokens(await allowProgram(program, email, 'known to north'));
  const storage = await openStorage(world.databaseUrl, { log: silentLog });
  // As if everything that the provider remembers had been written just after the person joined, and not just before.
  const records = await storage.db.selectFrom('provider_records').selectAll().where('account_id', 'is not', null).execute();
  expect((await acceptInvitation(world, url, { current: 'known to north', next: 'known to nobody else' })).status).toBe(200);
  const { rows } = await sql<{ model: string; id: string }>`select model, id from provider_records`.execute(storage.db);
  const isGone = ({ model, id }: { model: string; id: string }): boolean => !rows.some((row) => row.model === model && row.id === id);
  const lost = records.filter(isGone);
  expect(lost.map(({ model }) => model)).toEqual(expect.arrayContaining(['Session', 'RefreshToken', 'Grant']));
  await storage.db.insertInto('provider_records').values(lost).execute();
  await storage.close();

  const again = new CodeFlow(flow.config, flow.browser, flow.redirectUri);
  expect((await flow.browser.open(await again.url())).html).toContain('<h1>Sign in</h1>');
  const silent = new CodeFlow(flow.config, flow.browser, flow.redirectUri);
  expect(new URL((await flow.browser.open(await silent.url({ prompt: 'none' }))).url).searchParams.get('error')).toBe('login_required');
  await expect(oidc.refreshTokenGrant(program.config, kept!)).rejects.toMatchObject({ error: 'invalid_grant' });
  expect(await ask(tokens.access_token, 'GET', '/api/me')).toBe(401);
});

test('wrong passwords on invitation pages are limited per account, however many invitations a team creates', async () => {
  const email = 'guessed@example.org';
  await acceptInvitation(world, (await invite(north, email)).url, { next: 'known to the person' });
  const statuses: number[] = [];
  for (let number = 0; number < 12; number += 1) {
    const { url } = await invite(south, email);
    statuses.push((await acceptInvitation(world, url, { current: `guess ${number}`, next: 'battery staple' })).status);
  }
  expect(statuses).toEqual([...Array<number>(10).fill(422), 429, 429]);
  // The person signs in all the same.
  expect((await signIn(world, email, 'known to the person')).access_token).toBeDefined();
});

test('a team that invites many people cannot try one password on all their accounts', async () => {
  const east = await world.addTeam('East');
  const statuses: number[] = [];
  for (let number = 0; number < 51; number += 1) {
    const { url } = await invite(east, `sprayed${number}@example.org`);
    statuses.push((await acceptInvitation(world, url, { current: 'Summer2031', next: 'battery staple' })).status);
  }
  expect(statuses).toEqual([...Array<number>(50).fill(422), 429]);
  // Attempts of one team do not affect people invited by another team.
  const { url } = await invite(south, 'newcomer@example.org');
  expect((await acceptInvitation(world, url, { next: 'battery staple' })).status).toBe(200);
});

test("forms without this browser's token change nothing", async () => {
  const { url } = await invite(north, 'forged@example.org');
  const body = new URLSearchParams({ csrf: 'x', new_password: 'battery staple', repeated: 'battery staple' });
  for (const action of ['accept', 'decline', 'upstream'])
    expect((await fetch(`${url}/${action}`, { method: 'POST', body })).status).toBe(400);
  expect((await fetch(url)).status).toBe(200);
});

test('pages behind links are not cached, send no referrer, contain no script and escape names', async () => {
  const team = await world.addTeam('<script>alert(1)</script>');
  const { url } = await invite(team, 'ada@example.org');
  const answer = await fetch(url);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'$/,
    ),
  });
  expect(answer.headers.get('set-cookie')).toMatch(/^signalbox-link=[\w-]{43}; Path=\/invitation; HttpOnly; SameSite=Lax$/);
  expect(await answer.text()).not.toContain('<script');
});

test('an invitation page does not reveal whether the address has an account', async () => {
  await acceptInvitation(world, (await invite(north, 'known@example.org')).url);
  const pages = await Promise.all(
    ['known@example.org', 'novel@example.org'].map(async (email) => {
      const page = await (await fetch((await invite(south, email)).url)).text();
      const wrong = await acceptInvitation(world, (await invite(south, email)).url, { current: 'a guess', next: 'battery staple' });
      const plain = (html: string): string => html.replaceAll(email, '').replaceAll(/value="[^"]*"|action="[^"]*"/g, '');
      return { page: plain(page), wrong: [wrong.status, plain(wrong.html)] };
    }),
  );
  expect(pages[0]).toEqual(pages[1]);
});

test("a team's audit log contains sign-ins to that team only", async () => {
  const email = 'both@example.org';
  const [one, other] = [await world.addTeam('One'), await world.addTeam('Other')];
  await acceptInvitation(world, (await invite(one, email)).url, { next: 'first password' });
  const actions = async (team: Caller) => {
    const { body } = await team.call<{ data: { action: string; target: string }[] }>('GET', '/api/audit');
    return body.data.map(({ action }) => action);
  };
  await breakInto(other, email, 'wrong password');
  await onceTold(async () => expect(await actions(one)).toEqual(['failed login', 'accepted invitation', 'POST /api/members']));
  const { url } = await invite(other, email);
  await acceptInvitation(world, url, { current: 'first password', next: 'second password' });
  const seenByOne = await actions(one);
  // Of several teams: a wrong password is nobody's news, and a right one that of the team that is chosen.
  await breakInto(other, email, 'wrong password');
  const flow = await beginFlow(world);
  const choice = await flow.browser.submit(await flow.browser.open(await flow.url()), '/login', { email, password: 'second password' });
  expect(await actions(other)).toEqual(['accepted invitation', 'POST /api/members']);
  const { url: back } = await flow.browser.submit(choice, '/confirm', { team: other.teamId });
  const { id_token: idToken } = await flow.tokens(back);
  const question = await flow.browser.open(`${world.server.url}/oidc/session/end?id_token_hint=${idToken}`);
  await flow.browser.submit(question, '/session/end/confirm', { logout: 'yes' });
  await expect.poll(() => actions(other)).toEqual(['logout', 'login', 'accepted invitation', 'POST /api/members']);
  expect(await actions(one)).toEqual(seenByOne);
});

test('a password link is refused once the person belongs to another team', async () => {
  const email = 'reset@example.org';
  await acceptInvitation(world, (await invite(north, email)).url, { next: 'known to north' });
  const member = (await world.server.services.teams.findPerson(email))!.userId;
  const { body } = await north.call<{ data: { password_link: { url: string } } }>('POST', `/api/members/${member}/password`);
  await acceptInvitation(world, (await invite(south, email)).url, { current: 'known to north', next: 'known to nobody else' });
  expect((await setPasswordBy(world, body.data.password_link.url, 'known to north')).status).toBe(404);
  expect((await north.call('POST', `/api/members/${member}/password`)).status).toBe(409);
  expect(await breakInto(south, email, 'known to north')).toBeUndefined();
});
