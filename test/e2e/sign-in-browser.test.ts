import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM_ARGUMENTS, PAGES_PATH, isChromiumMissing } from '../harness/chromium.ts';
import { invite } from '../harness/identity/links.ts';
import { addUser, beginFlow, CodeFlow, PASSWORD } from '../harness/identity/sign-in.ts';
import { World } from '../harness/world.ts';

/** Signing in as people do it: headless Chromium on the real pages, under their real policy. */

let world: World;
let browser: Browser;
/** A third party's server: shows what it was called with. */
let thirdParty: http.Server;
let callback: string;

beforeAll(async () => {
  if (isChromiumMissing) return;
  world = await World.start({ routers: [] });
  await addUser(world, 'ada@example.org', 'operator');
  await addUser(world, 'bob@example.org', 'viewer');
  thirdParty = http.createServer((request, response) => response.end(`arrived at ${request.url}`)).listen(0, '127.0.0.1');
  await once(thirdParty, 'listening');
  callback = `http://127.0.0.1:${(thirdParty.address() as AddressInfo).port}/callback`;
  browser = await chromium.launch({ executablePath: PAGES_PATH, args: CHROMIUM_ARGUMENTS });
});
afterAll(async () => {
  await browser?.close();
  thirdParty?.close();
  await world?.close();
});

/** A browser of a person, with what went wrong in it and whom else it asked. */
async function person(
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<{ context: BrowserContext; page: Page; complaints: string[] }> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // The answer to a wrong password, and the pages at the end of a flow that nobody serves here.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { origin } = new URL(request.url());
    if (![world.server.url, new URL(callback).origin].includes(origin)) complaints.push(request.url());
  });
  return { context, page, complaints };
}

async function fillIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

describe.skipIf(isChromiumMissing).each([
  ['with scripts', { javaScriptEnabled: true }],
  ['without scripts', { javaScriptEnabled: false }],
])('in Chromium %s', (_name, options) => {
  test('a wrong password, then the right one, gives the application its code', async () => {
    const { context, page, complaints } = await person(options);
    const flow = await beginFlow(world);
    await page.goto(await flow.url());
    expect(await page.title()).toBe('Sign in – Signalbox');
    await fillIn(page, 'ada@example.org', 'not the password');
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe('ada@example.org');
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    await fillIn(page, 'ada@example.org');
    await page.waitForURL('**/callback?*');
    expect((await flow.tokens(page.url())).claims()).toMatchObject({ email: 'ada@example.org' });
    // Nothing that a page could read.
    expect(
      (await context.cookies()).every(({ httpOnly, sameSite, path }) => httpOnly && sameSite === 'Lax' && path.startsWith('/oidc')),
    ).toBe(true);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe.skipIf(isChromiumMissing)('in Chromium', () => {
  test("another program gets the user's consent, and the redirect to it works", async () => {
    const { context, page, complaints } = await person();
    const wanted = {
      teamId: world.caller.teamId,
      name: 'Tickets',
      kind: 'web',
      role: 'viewer',
      redirectUris: [callback],
      createdBy: null,
    } as const;
    const { client, secret } = await world.server.services.identity.clients.create({ ...wanted, redirectUris: [...wanted.redirectUris] });
    const flow = await beginFlow(world, { clientId: client.id, secret, redirectUri: callback });
    await page.goto(await flow.url({ prompt: 'consent' }));
    await fillIn(page, 'ada@example.org');
    await page.getByRole('heading', { name: 'Allow Tickets?' }).waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${callback}?*`);
    expect(await page.textContent('body')).toContain('arrived at /callback?code=');
    expect((await flow.tokens(page.url())).refresh_token).toBeDefined();
    const again = new CodeFlow(flow.config, flow.browser, callback);
    await page.goto(await again.url({ prompt: 'consent' }));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForURL(`${callback}?error=access_denied*`);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('a sign-out can be confirmed or declined', async () => {
    const { context, page, complaints } = await person();
    const flow = await beginFlow(world);
    await page.goto(await flow.url());
    await fillIn(page, 'bob@example.org');
    await page.waitForURL('**/callback?*');
    const tokens = await flow.tokens(page.url());
    const signOut = `${world.server.url}/oidc/session/end?id_token_hint=${tokens.id_token}`;
    await page.goto(signOut);
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    await page.getByRole('heading', { name: 'You stay signed in' }).waitFor();
    const still = new CodeFlow(flow.config, flow.browser, flow.redirectUri);
    await page.goto(await still.url({ prompt: 'none' }));
    expect(page.url()).toContain('code=');
    await page.goto(signOut);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    const gone = new CodeFlow(flow.config, flow.browser, flow.redirectUri);
    await page.goto(await gone.url({ prompt: 'none' }));
    expect(page.url()).toContain('error=login_required');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('another user takes over the browser and sees only the sign-in page', async () => {
    const { context, page, complaints } = await person();
    for (const email of ['ada@example.org', 'bob@example.org']) {
      const flow = await beginFlow(world);
      await page.goto(await flow.url({ prompt: 'login' }));
      await fillIn(page, email);
      await page.waitForURL('**/callback?*');
      expect((await flow.tokens(page.url())).claims()).toMatchObject({ email });
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  test.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('an invitation is answered, %s', async (name, javaScriptEnabled) => {
    const { context, page, complaints } = await person({ javaScriptEnabled });
    const email = `${name.replace(' ', '-')}@example.org`;
    await page.goto((await invite(world.caller, email)).url);
    await page.getByRole('heading', { name: 'Join Test?' }).waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe(email);
    const answer = async (again: string): Promise<void> => {
      await page.getByLabel('New password', { exact: true }).fill('battery staple');
      await page.getByLabel('New password again').fill(again);
      await page.getByRole('button', { name: 'Join the team' }).click();
    };
    await answer('battery stable');
    await page.getByText('The two new passwords are not the same.').waitFor();
    await answer('battery staple');
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();
    const flow = await beginFlow(world);
    await page.goto(await flow.url());
    await fillIn(page, email, 'battery staple');
    await page.waitForURL('**/callback?*');
    expect((await flow.tokens(page.url())).claims()).toMatchObject({ email });
    await page.goto((await invite(world.caller, `second-${email}`)).url);
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByRole('heading', { name: 'Declined' }).waitFor();
    expect((await context.cookies()).filter(({ path }) => path === '/invitation')).toMatchObject([{ httpOnly: true, sameSite: 'Lax' }]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('a foreign page cannot answer an invitation for the user', async () => {
    const { context, page } = await person();
    const link = await invite(world.caller, 'carol@example.org');
    const code = link.url.split('/').at(-1)!;
    // Whoever sent the link knows it, and has a proof of their own.
    const stranger = await (await fetch(link.url)).text();
    const csrf = /name="csrf" value="([^"]+)"/.exec(stranger)![1]!;
    await page.goto(link.url);
    await page.goto(callback);
    await page.setContent(`<form method="post" action="${world.server.url}/invitation/${code}/accept"><input name="csrf" value="${csrf}">
<input name="new_password" value="known to stranger"><input name="repeated" value="known to stranger"><button>Win</button></form>`);
    await page.getByRole('button').click();
    await page.getByText('This answer did not come from our page.').waitFor();
    expect(await world.server.services.teams.hasAccount('carol@example.org')).toBe(false);
    await context.close();
  });

  test('the sign-in page cannot be framed', async () => {
    const { context, page } = await person();
    const flow = await beginFlow(world);
    await page.goto(callback);
    await page.setContent(`<iframe src="${(await flow.url()).replaceAll('&', '&amp;')}"></iframe>`);
    await expect.poll(() => page.frames().length).toBe(2);
    await page.waitForLoadState('networkidle');
    expect(await page.frames()[1]!.content()).not.toContain('Password');
    await context.close();
  });
});
