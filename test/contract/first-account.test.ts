import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { FormBrowser } from '../harness/identity/browser.ts';
import { beginFlow, signIn } from '../harness/identity/sign-in.ts';
import { FIRST_ACCOUNT } from '../../server/built.ts';
import { World } from '../harness/world.ts';

/** From a control plane without accounts to a person who is signed in, as whoever started it in a terminal goes. */

const EMAIL = 'founder@example.net';
const PASSWORD = 'correct horse battery';
const FIRST = { team: 'My network', email: EMAIL, new_password: PASSWORD, repeated: PASSWORD };

describe.each(databaseKinds().map((kind) => [kind.name, kind] as const))('the first account, %s', (_name, kind) => {
  let database: TestDatabase;
  let world: World;
  let link: string;
  const newBrowser = (): FormBrowser => new FormBrowser(world.server.url);

  beforeAll(async () => {
    database = await kind.create();
    world = await World.start({ routers: [], databaseUrl: database.url });
    link = (await world.server.services.identity.setupLink())!;
  });
  afterAll(async () => {
    await world.close();
    await database.remove();
  });

  test('the sign-in says that nobody could sign in, and how to change that', async () => {
    const flow = await beginFlow(world);
    const page = await flow.browser.open(await flow.url());
    expect(page.status).toBe(200);
    const command = /<pre>([^<]*)<\/pre>/.exec(page.html)![1]!;
    expect(command.split('\n')).toEqual(FIRST_ACCOUNT);
    expect(command).toContain('--installation-admin');
    expect(page.html).toMatch(/The terminal in which it was started shows a link[^]*in the same folder/);
    expect(page.html).not.toContain('still no account');
    expect((await flow.browser.open(await flow.url())).html).toContain('There is still no account.');
    expect(page.html).not.toContain('type="password"');
  });

  test.each([
    ['another code', () => `${link}x`],
    ['no code that was printed', () => link.replace(/[^/]+$/, 'a'.repeat(40))],
  ])('%s opens nothing', async (_case, address) => {
    const page = await newBrowser().open(address());
    expect(page.status).toBe(404);
    expect(page.html).toContain('prints a new link in its terminal whenever it starts');
  });

  test.each([
    ['two different passwords', { ...FIRST, repeated: 'another one' }, 'not the same', 'new_password'],
    ['a short password', { ...FIRST, new_password: 'short', repeated: 'short' }, '8 to 256 characters', 'new_password'],
    ['a common password', { ...FIRST, new_password: 'password1234', repeated: 'password1234' }, 'most common', 'new_password'],
    ['the own address', { ...FIRST, new_password: EMAIL, repeated: EMAIL }, 'your email address', 'new_password'],
    ['no address', { ...FIRST, email: 'founder' }, 'email', 'email'],
    ['a team without a name', { ...FIRST, team: ' ' }, '1 to 100 characters', 'team'],
  ])('%s is refused with the reason at its field, and nothing is made', async (_case, fields, reason, field) => {
    const browser = newBrowser();
    const page = await browser.submit(await browser.open(link), new URL(link).pathname, fields);
    expect(page.status).toBe(422);
    expect(/<p role="alert"[^>]*>([^<]*)/.exec(page.html)?.[1]).toContain(reason);
    expect([...page.html.matchAll(/<input name="(\w+)"[^>]* autofocus>/g)].map(([, name]) => name)).toEqual([field]);
    expect(await world.server.services.teams.hasAnyAccount()).toBe(false);
    expect((await world.server.services.teams.listTeams()).map(({ name }) => name)).toEqual(['Test']);
  });

  test('a form of another site is refused', async () => {
    const browser = newBrowser();
    const page = await browser.open(link);
    const foreign = await browser.submit(page, new URL(link).pathname, FIRST, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).toBe(400);
    expect((await browser.submit(page, new URL(link).pathname, { ...FIRST, csrf: 'x' })).status).toBe(400);
  });

  test('makes a team and its administrator once, who signs in and administers the installation', async () => {
    const browsers = Array.from({ length: 8 }, newBrowser);
    const pages = await Promise.all(browsers.map((browser) => browser.open(link)));
    const answers = await Promise.all(browsers.map((browser, index) => browser.submit(pages[index]!, new URL(link).pathname, FIRST)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 7 }, () => 404)]);
    const home = `${world.server.url}/#sign-in=${encodeURIComponent(EMAIL)}`;
    expect(answers.find(({ status }) => status === 200)!.html).toContain(`href="${home}"`);
    const token = (await signIn(world, EMAIL, PASSWORD)).access_token;
    const topics = await fetch(`${world.server.url}/api/topics`, { headers: { authorization: `Bearer ${token}` } });
    const { data } = (await topics.json()) as { data: { name: string }[] };
    // As those of a team from the command line.
    expect(data.map(({ name }) => name)).toEqual(['Failed jobs', 'Router health', 'WAN', 'Outages']);
    const me = await fetch(`${world.server.url}/api/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(await me.json()).toMatchObject({
      data: { email: EMAIL, role: 'admin', team: { name: 'My network' }, installation_admin: true },
    });
  });

  test('the link works no more, and no other is made', async () => {
    expect((await newBrowser().open(link)).status).toBe(404);
    expect(await world.server.services.identity.setupLink()).toBeUndefined();
    const flow = await beginFlow(world);
    expect((await flow.browser.open(await flow.url())).html).toContain('type="password"');
  });
});

test('an account from the command line ends the link, too', async () => {
  const world = await World.start({ routers: [] });
  try {
    const link = (await world.server.services.identity.setupLink())!;
    await world.server.services.teams.createUser({ teamId: world.caller.teamId, email: EMAIL, role: 'viewer', password: PASSWORD });
    expect((await new FormBrowser(world.server.url).open(link)).status).toBe(404);
  } finally {
    await world.close();
  }
});
