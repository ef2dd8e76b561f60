import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FormBrowser } from '../harness/identity/browser.ts';
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

test('a provider whose keys cannot be read is to blame, and not this server', async () => {
  // The first of all: keys are kept once they are known.
  outside.keysAreDown = true;
  const flow = await beginFlow(world);
  expect((await flow.browser.open(await comeBack(flow))).status).toBe(502);
});

test('a verified address signs its person in', async () => {
  outside.claims = { email: 'Ada@Example.org' };
  const flow = await beginFlow(world);
  const tokens = await flow.tokens((await flow.browser.open(await comeBack(flow))).url);
  expect(tokens.claims()).toMatchObject({ sub: adaId });
  expect(outside.tokenRequest?.authorization).toBe(`Basic ${Buffer.from('signalbox:outside-secret').toString('base64')}`);
  expect(outside.tokenRequest?.form.get('redirect_uri')).toBe(`${world.server.url}/oidc/upstream/callback`);
});

describe('nobody is signed in', () => {
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
    expect(page.html).toContain('no verified address that is known here');
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

  test('in a browser that did not begin', async () => {
    const back = await comeBack(await beginFlow(world));
    expect((await new FormBrowser(world.server.url).open(back)).status).toBe(400);
    const other = await beginFlow(world);
    await other.browser.open(await other.url());
    expect((await other.browser.open(back)).status).toBe(400);
  });

  test('by an answer with a changed state, or without a code', async () => {
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

test('a password still does', async () => {
  const flow = await beginFlow(world);
  const page = await flow.browser.open(await flow.url());
  expect((await flow.browser.submit(page, '/login', { email: 'ada@example.org', password: 'correct horse battery' })).url).toContain('code=');
});
