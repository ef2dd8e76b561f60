import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FormBrowser } from '../harness/identity/browser.ts';
import { invite } from '../harness/identity/links.ts';
import { OutsideProvider } from '../harness/identity/outside-provider.ts';
import { addUser, beginFlow } from '../harness/identity/sign-in.ts';
import type { CodeFlow } from '../harness/identity/sign-in.ts';
import { World } from '../harness/world.ts';

/** Signing in with an identity provider outside: whoever it has verified is the person with that address here. */
let outside: OutsideProvider;
let folder: string;
let world: World;
let adaId: string;

beforeAll(async () => {
  outside = await OutsideProvider.start();
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-outside-'));
  const secretFile = path.join(folder, 'secret');
  await writeFile(secretFile, `${OutsideProvider.secret}\n`);
  world = await World.start({
    routers: [],
    server: {
      SIGNALBOX_UPSTREAM_ISSUER: outside.issuer,
      SIGNALBOX_UPSTREAM_CLIENT_ID: OutsideProvider.clientId,
      SIGNALBOX_UPSTREAM_CLIENT_SECRET_FILE: secretFile,
      SIGNALBOX_UPSTREAM_NAME: 'Example <Corp>',
    },
  });
  adaId = await addUser(world, 'ada@example.org', 'operator');
});
beforeEach(() => {
  outside.claims = {};
  outside.keysAreDown = false;
});
afterAll(async () => {
  await world.close();
  outside.close();
  await rm(folder, { recursive: true });
});

/** Up to the address at which the browser comes back. */
async function comeBack(flow: CodeFlow): Promise<string> {
  const page = await flow.browser.open(await flow.url());
  expect(page.html).toContain('Sign in with Example &lt;Corp&gt;');
  const { url } = await flow.browser.submit(page, '/upstream');
  expect(url.startsWith(`${outside.issuer}/auth?`)).toBe(true);
  return outside.signInAt(url);
}

test('a provider whose keys cannot be read is reported as the cause of the error', async () => {
  // The first of all: keys are kept once they are known.
  outside.keysAreDown = true;
  const flow = await beginFlow(world);
  expect((await flow.browser.open(await comeBack(flow))).status).toBe(502);
});

test('a verified address signs its user in', async () => {
  outside.claims = { email: 'Ada@Example.org' };
  const flow = await beginFlow(world);
  const tokens = await flow.tokens((await flow.browser.open(await comeBack(flow))).url);
  expect(tokens.claims()).toMatchObject({ sub: adaId });
  expect(outside.tokenRequest?.authorization).toBe(`Basic ${Buffer.from('signalbox:outside-secret').toString('base64')}`);
  expect(outside.tokenRequest?.form.get('redirect_uri')).toBe(`${world.server.url}/oidc/upstream/callback`);
});

describe('no person is signed in', () => {
  test.each([
    ['by an address that is not verified', { email_verified: false }],
    ['by one that only looks verified', { email_verified: 'true' }],
    ['by one that nobody here has', { email: 'eve@example.org' }],
    ['without an address', { email: undefined }],
    ['by the answer to another question', { nonce: 'other' }],
  ])('%s', async (_name, claims) => {
    outside.claims = claims;
    const flow = await beginFlow(world);
    const page = await flow.browser.open(await comeBack(flow));
    expect(page.status).toBe(401);
    expect(page.html).toContain('no verified address of yours that is known here');
  });

  test.each([
    ['by a token for somebody else', { aud: 'other' }],
    ['by a token of somebody else', { iss: 'https://other.example' }],
    ['by a token that is over', { exp: 1000 }],
  ])('%s', async (_name, claims) => {
    outside.claims = claims;
    const flow = await beginFlow(world);
    expect((await flow.browser.open(await comeBack(flow))).status).toBe(502);
  });

  test('in a browser that did not start the sign-in', async () => {
    const back = await comeBack(await beginFlow(world));
    expect((await new FormBrowser(world.server.url).open(back)).status).toBe(400);
    const other = await beginFlow(world);
    await other.browser.open(await other.url());
    expect((await other.browser.open(back)).status).toBe(400);
  });

  test('by an answer with a wrong state or without a code', async () => {
    const flow = await beginFlow(world);
    const back = new URL(await comeBack(flow));
    const state = back.searchParams.get('state')!;
    back.searchParams.set('state', `${state.split('.')[0]}.forged`);
    expect((await flow.browser.open(back.href)).status).toBe(400);
    back.search = new URLSearchParams({ state, error: 'access_denied' }).toString();
    const page = await flow.browser.open(back.href);
    expect(page.status).toBe(401);
    expect(page.html).toContain('Example &lt;Corp&gt; did not sign you in.');
  });
});

describe('an invitation', () => {
  /** Up to the address at which the browser comes back. */
  async function leaveFor(url: string): Promise<{ browser: FormBrowser; back: string }> {
    const browser = new FormBrowser(world.server.url);
    const { url: authorization } = await browser.submit(await browser.open(url), '/upstream');
    expect(authorization).not.toContain(url.split('/').at(-1));
    return { browser, back: outside.signInAt(authorization) };
  }

  test('is accepted by the user with the invited address, whose password then stops working', async () => {
    await addUser(world, 'grace@example.org', 'viewer');
    const south = await world.addTeam('South');
    outside.claims = { email: 'Grace@Example.org' };
    const { browser, back } = await leaveFor((await invite(south, 'grace@example.org')).url);
    const page = await browser.open(back);
    expect([page.status, page.html.includes('You are a member of the team <strong>South')]).toEqual([200, true]);
    expect(await world.server.services.teams.checkPassword('grace@example.org', 'correct horse battery')).toMatchObject({ matches: false });
    expect((await world.server.services.teams.findPerson('grace@example.org'))?.memberships).toHaveLength(2);
  });

  test.each([
    ['by another address', { email: 'eve@example.org' }, 403],
    ['by an address that is not verified', { email: 'linus@example.org', email_verified: false }, 403],
    ['by the answer to another question', { email: 'linus@example.org', nonce: 'other' }, 403],
  ])('is not accepted %s', async (_name, claims, status) => {
    outside.claims = claims;
    const { browser, back } = await leaveFor((await invite(world.caller, 'linus@example.org')).url);
    expect((await browser.open(back)).status).toBe(status);
    expect(await world.server.services.teams.hasAccount('linus@example.org')).toBe(false);
  });

  test('is not accepted in a browser that did not start it, or without an answer', async () => {
    outside.claims = { email: 'linus@example.org' };
    const { url } = await invite(world.caller, 'linus@example.org');
    const { browser, back } = await leaveFor(url);
    const other = new FormBrowser(world.server.url);
    expect((await other.open(back)).status).toBe(400);
    await other.open(url);
    expect((await other.open(back)).status).toBe(400);
    const empty = new URL(back);
    empty.searchParams.delete('code');
    expect((await browser.open(empty.href)).status).toBe(401);
    expect(await world.server.services.teams.hasAccount('linus@example.org')).toBe(false);
  });
});

test('a password still does', async () => {
  const flow = await beginFlow(world);
  const page = await flow.browser.open(await flow.url());
  expect((await flow.browser.submit(page, '/login', { email: 'ada@example.org', password: 'correct horse battery' })).url).toContain(
    'code=',
  );
});
