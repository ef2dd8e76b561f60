import path from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../../server/cli/run.ts';
import { FormBrowser } from '../harness/identity/browser.ts';
import { setPasswordBy } from '../harness/identity/links.ts';
import {
  addUser,
  allowProgram,
  beginFlow,
  beginProgramFlow,
  CodeFlow,
  discover,
  PASSWORD,
  signIn,
  signInToProgram,
} from '../harness/identity/sign-in.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { World } from '../harness/world.ts';

/** People who sign in to the first-party application: a real OpenID client, and a browser that knows forms and cookies. */
let world: World;
let adaId: string;
beforeAll(async () => {
  world = await World.start({ routers: [] });
  adaId = await addUser(world, 'ada@example.org', 'operator');
});
afterAll(async () => world.close());

const ask = async (token: string, path = '/api/me', init: RequestInit = {}): Promise<Response> =>
  fetch(`${world.server.url}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } });

/** A member of a name that no other test uses. */
let users = 0;
async function newUser(role: 'viewer' | 'operator' | 'admin' = 'operator'): Promise<{ id: string; email: string }> {
  users += 1;
  const email = `user${users}@example.org`;
  return { id: await addUser(world, email, role), email };
}

async function signInPage(): Promise<{ flow: CodeFlow; page: Awaited<ReturnType<FormBrowser['open']>> }> {
  const flow = await beginFlow(world);
  return { flow, page: await flow.browser.open(await flow.url()) };
}

describe('the authorization code flow', () => {
  test('gives a short-lived token of type at+jwt that the API accepts', async () => {
    const tokens = await signIn(world, 'ada@example.org');
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ typ: 'at+jwt', alg: 'RS256', kid: expect.any(String) });
    const claims = decodeJwt(tokens.access_token);
    const { teamId: team } = world.caller;
    expect(claims).toMatchObject({ iss: `${world.server.url}/oidc`, aud: world.server.url, sub: adaId, team, role: 'operator' });
    expect(claims.exp! - claims.iat!).toBe(300);
    expect(tokens.claims()).toMatchObject({ sub: adaId, email: 'ada@example.org' });
    expect(await (await ask(tokens.access_token)).json()).toMatchObject({
      data: { id: adaId, kind: 'user', email: 'ada@example.org', role: 'operator', team: { id: team } },
    });
  });

  test('is described completely by the discovery document', async () => {
    const { url } = world.server;
    expect(await (await fetch(`${url}/oidc/.well-known/openid-configuration`)).json()).toMatchObject({
      issuer: `${url}/oidc`,
      authorization_endpoint: `${url}/oidc/auth`,
      token_endpoint: `${url}/oidc/token`,
      jwks_uri: `${url}/oidc/jwks`,
      end_session_endpoint: `${url}/oidc/session/end`,
      revocation_endpoint: `${url}/oidc/token/revocation`,
      scopes_supported: ['openid', 'offline_access', 'email', 'api'],
      response_types_supported: ['code', 'id_token token', 'id_token'],
      code_challenge_methods_supported: ['S256'],
    });
  });

  test('advertises the public URLs, whatever the request claims', async () => {
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' };
    const text = await (await fetch(`${world.server.url}/oidc/.well-known/openid-configuration`, { headers })).text();
    expect(text).not.toContain('evil');
  });

  test('requires PKCE with S256', async () => {
    const flow = await beginFlow(world);
    for (const parameters of [{ code_challenge: '', code_challenge_method: '' }, { code_challenge_method: 'plain' }]) {
      const url = new URL(await flow.url(parameters));
      for (const [name, value] of Object.entries(parameters)) if (value === '') url.searchParams.delete(name);
      const { url: end } = await flow.browser.open(url.href);
      expect(new URL(end).searchParams.get('error')).toBe('invalid_request');
    }
  });

  test('refuses a code without its verifier', async () => {
    const { flow, page } = await signInPage();
    const { url } = await flow.browser.submit(page, '/login', { email: 'ada@example.org', password: PASSWORD });
    const stranger = await beginFlow(world);
    const state = new URL(url).searchParams.get('state')!;
    const stolen = oidc.authorizationCodeGrant(stranger.config, new URL(url), {
      pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
      expectedState: state,
    });
    await expect(stolen).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test('revokes the tokens of a code that is used twice', async () => {
    const flow = await beginProgramFlow(world);
    const url = await allowProgram(flow, 'ada@example.org');
    const tokens = await flow.tokens(url);
    await expect(flow.tokens(url)).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(oidc.refreshTokenGrant(flow.config, tokens.refresh_token!)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test('refuses one of two concurrent uses of a code', async () => {
    const { flow, page } = await signInPage();
    const { url } = await flow.browser.submit(page, '/login', { email: 'ada@example.org', password: PASSWORD });
    const results = await Promise.allSettled([flow.tokens(url), flow.tokens(url), flow.tokens(url)]);
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
  });
});

describe('redirects', () => {
  const base = (): string => world.server.url;

  test.each([
    ['another host', () => 'https://evil.example/callback'],
    ['our host as a prefix', () => `${base()}.evil.example/callback`],
    ['our host as a name', () => `${base().replace('//', `//${new URL(base()).host}@`)}.evil.example/callback`],
    ['a path below', () => `${base()}/callback/../../evil`],
    ['a query', () => `${base()}/callback?to=https://evil.example`],
    ['a fragment', () => `${base()}/callback#x`],
    ['an encoded path', () => `${base()}/%63allback`],
    ['no scheme', () => '//evil.example/callback'],
    ['a script', () => 'javascript:alert(1)'],
    ['another port', () => base().replace(/:\d+$/, ':1') + '/callback'],
  ])('%s is refused on a page of ours, without going there', async (_name, redirectUri) => {
    const flow = await beginFlow(world);
    const { status, url, html } = await flow.browser.open(await flow.url({ redirect_uri: redirectUri() }));
    expect(status).toBe(400);
    expect(url.startsWith(`${base()}/oidc/auth`)).toBe(true);
    expect(html).toContain('redirect_uri');
  });

  test('after a sign-out go only to a registered URI', async () => {
    const tokens = await signIn(world, 'ada@example.org');
    const url = `${base()}/oidc/session/end?id_token_hint=${tokens.id_token}&post_logout_redirect_uri=${encodeURIComponent('https://evil.example/')}`;
    const { status, html } = await new FormBrowser(base()).open(url);
    expect(status).toBe(400);
    expect(html).not.toContain('href');
  });

  test('show error messages as plain text', async () => {
    const { html } = await new FormBrowser(base()).open(`${base()}/oidc/auth?client_id=${encodeURIComponent('<script>alert(1)</script>')}`);
    expect(html).toContain('This did not work');
    expect(html).not.toContain('<script>');
  });
});

describe('the sign-in page', () => {
  test('has the address that the application expects, as text', async () => {
    const flow = await beginFlow(world);
    const { html } = await flow.browser.open(await flow.url({ login_hint: '"><script>x</script>@example.org' }));
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;x&lt;/script&gt;@example.org"');
    expect((await flow.browser.open(await flow.url({ login_hint: 'x'.repeat(300) }))).html).toContain('required value=""');
  });

  test('contains no script, loads nothing and cannot be framed', async () => {
    const { page } = await signInPage();
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('x-frame-options')).not.toBeNull();
    expect(page.html).not.toMatch(/<script|<link|<img|url\(|@import|https?:/);
  });

  test('answers a wrong password and an unknown user alike', async () => {
    const { flow, page } = await signInPage();
    const { email } = await newUser();
    const wrong = await flow.browser.submit(page, '/login', { email, password: 'wrong password' });
    const unknown = await flow.browser.submit(page, '/login', { email: 'nobody@example.org', password: 'wrong password' });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(unknown.html).toBe(wrong.html.replace(email, 'nobody@example.org'));
    expect(wrong.html).toContain('The email address or the password is wrong.');
    // What was typed stays, but never the password.
    expect(wrong.html).not.toContain('wrong password');
  });

  test('locks an account after ten wrong passwords, existing or not; others may continue', async () => {
    const { email } = await newUser();
    const { flow, page } = await signInPage();
    for (const account of [email, 'never-seen@example.org']) {
      const tries = await Promise.all(
        Array.from({ length: 12 }, () => flow.browser.submit(page, '/login', { email: account, password: 'guess' })),
      );
      expect(tries.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...Array<number>(10).fill(401), 429, 429]);
      const right = await flow.browser.submit(page, '/login', { email: ` ${account.toUpperCase()}`, password: PASSWORD });
      expect(right.status).toBe(429);
      expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(60);
      expect(Number(right.headers.get('retry-after'))).toBeLessThanOrEqual(90);
      expect(right.html).toContain('too many attempts. Try again in 2 minutes.');
    }
    const { email: other } = await newUser();
    expect((await signIn(world, other)).access_token).toBeDefined();
  });

  test('unlocks an account that gets a new password', async () => {
    const { id, email } = await newUser();
    const { flow, page } = await signInPage();
    await Promise.all(Array.from({ length: 11 }, () => flow.browser.submit(page, '/login', { email, password: 'guess' })));
    await world.server.services.teams.setPassword(id, 'another password');
    expect((await signIn(world, email, 'another password')).access_token).toBeDefined();
  });

  test('belongs to the browser that started the sign-in', async () => {
    const { page } = await signInPage();
    const elsewhere = new FormBrowser(world.server.url);
    expect(await elsewhere.open(page.url)).toMatchObject({ status: 400, html: expect.stringContaining('in another browser') as string });
    const forged = await elsewhere.submit(page, '/login', { email: 'ada@example.org', password: PASSWORD });
    expect(forged.status).toBe(400);
  });

  test.each([
    ['a form without our proof', { csrf: '' }, {}],
    ['a form with the proof of another sign-in', { csrf: 'A'.repeat(43) }, {}],
    ['a form on another site', {}, { 'sec-fetch-site': 'cross-site' }],
    ['a form on a neighbour', {}, { 'sec-fetch-site': 'same-site' }],
  ])('%s is refused', async (_name, fields, headers) => {
    const { flow, page } = await signInPage();
    const answer = await flow.browser.submit(page, '/login', { email: 'ada@example.org', password: PASSWORD, ...fields }, headers);
    expect(answer.status).toBe(400);
    expect(answer.html).toContain('did not come from our page');
  });

  test('returns access_denied to a user who cancels', async () => {
    const { flow, page } = await signInPage();
    const { url } = await flow.browser.submit(page, '/abort');
    expect(new URL(url).searchParams.get('error')).toBe('access_denied');
  });

  test('accepts only small forms', async () => {
    const { page } = await signInPage();
    const post = async (type: string, body: string) =>
      (await fetch(`${page.url}/login`, { method: 'POST', headers: { 'content-type': type }, body })).status;
    expect(await post('application/json', '{}')).toBe(415);
    expect(await post('application/x-www-form-urlencoded', 'a'.repeat(20_000))).toBe(413);
  });
});

describe('a session', () => {
  test('is accepted by the plant demonstration like any bearer token of the service', async () => {
    const { email } = await newUser();
    const { access_token: token } = await signIn(world, email);
    const plant = async (bearer: string) =>
      (
        await fetch(`${world.server.sandboxUrl}/plants`, {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
          body: JSON.stringify({ id: 1, name: 'Ficus' }),
        })
      ).status;
    const { token: service } = await world.server.services.credentials.createServiceToken('other');
    expect([await plant(token), await plant(world.caller.apiKey), await plant(`${token}x`), await plant(service)]).toEqual([
      200, 200, 401, 401,
    ]);
  });

  test('follows a changed role from the next request on, and ends for a deactivated member', async () => {
    const { id, email } = await newUser('operator');
    // A team is never left without an administrator.
    await newUser('admin');
    const { access_token: token } = await signIn(world, email);
    const { flow, refreshToken } = await signInToProgram(world, email);
    const create = async () =>
      (await ask(token, '/api/sites', { method: 'POST', body: JSON.stringify({ name: `S${Math.random()}` }) })).status;
    expect(await create()).toBe(403);
    await world.caller.call('PATCH', `/api/members/${id}`, { role: 'admin' });
    expect(await create()).toBe(200);
    await world.caller.call('PATCH', `/api/members/${id}`, { role: 'viewer' });
    expect(await create()).toBe(403);
    await world.caller.call('PATCH', `/api/members/${id}`, { active: false });
    expect((await ask(token)).status).toBe(401);
    await expect(oidc.refreshTokenGrant(flow.config, refreshToken)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test('has refresh tokens for one use; a second use revokes them all', async () => {
    const { email } = await newUser();
    const {
      flow: { config },
      refreshToken: first,
    } = await signInToProgram(world, email);
    const second = await oidc.refreshTokenGrant(config, first);
    expect((await ask(second.access_token)).status).toBe(200);
    expect(second.refresh_token).not.toBe(first);
    await expect(oidc.refreshTokenGrant(config, first)).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(oidc.refreshTokenGrant(config, second.refresh_token!)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test('refuses a revoked refresh token', async () => {
    const {
      flow: { config },
      refreshToken: token,
    } = await signInToProgram(world, (await newUser()).email);
    await oidc.tokenRevocation(config, token);
    await expect(oidc.refreshTokenGrant(config, token)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test('ends with a new password, by the user or by a link', async () => {
    const { id, email } = await newUser('viewer');
    const { access_token: token } = await signIn(world, email);
    const { flow, refreshToken } = await signInToProgram(world, email);
    const change = (current: string) =>
      ask(token, '/api/me/password', {
        method: 'POST',
        body: JSON.stringify({ current_password: current, new_password: 'battery staple' }),
      });
    expect((await change('wrong')).status).toBe(422);
    // Tokens carry whole seconds.
    await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(decodeJwt(token).iat!);
    expect((await change(PASSWORD)).status).toBe(204);
    expect((await ask(token)).status).toBe(401);
    await expect(oidc.refreshTokenGrant(flow.config, refreshToken)).rejects.toMatchObject({ error: 'invalid_grant' });
    expect((await signIn(world, email, 'battery staple')).access_token).toBeDefined();
    const { access_token: before } = await signIn(world, email, 'battery staple');
    const { body } = await world.caller.call<{ data: { password_link: { url: string } } }>('POST', `/api/members/${id}/password`);
    expect((await ask(before)).status).toBe(200);
    expect((await setPasswordBy(world, body.data.password_link.url, 'staple battery')).status).toBe(200);
    expect((await ask(before)).status).toBe(401);
    expect((await signIn(world, email, 'staple battery')).access_token).toBeDefined();
    expect((await world.caller.call('POST', '/api/me/password', { current_password: PASSWORD, new_password: PASSWORD })).status).toBe(403);
  });

  test("records the user's actions in the audit log under their name", async () => {
    const { id, email } = await newUser('admin');
    const { flow, page } = await signInPage();
    const again = await flow.browser.submit(page, '/login', { email, password: 'wrong password' });
    const { url } = await flow.browser.submit(again, '/login', { email, password: PASSWORD });
    const tokens = await flow.tokens(url);
    const body = JSON.stringify({ name: 'Tickets', kind: 'web', redirect_uris: ['https://tickets.example.net/callback'] });
    expect((await ask(tokens.access_token, '/api/clients', { method: 'POST', body })).status).toBe(200);
    const question = await flow.browser.open(`${world.server.url}/oidc/session/end?id_token_hint=${tokens.id_token}`);
    await flow.browser.submit({ ...question, html: question.html }, '/session/end/confirm', { logout: 'yes' });
    const entries = async () => {
      const { body: log } = await world.caller.call<{ data: { action: string; actor_name: string; source: string; result: number }[] }>(
        'GET',
        `/api/audit?actor=${id}`,
      );
      return log.data.map(({ action, actor_name: name, result }) => ({ action, name, result }));
    };
    await expect.poll(entries).toEqual([
      { action: 'logout', name: email, result: 200 },
      { action: 'POST /api/clients', name: email, result: 200 },
      { action: 'login', name: email, result: 200 },
      { action: 'failed login', name: email, result: 401 },
    ]);
  });
});

describe('the first-party application', () => {
  test.each([
    ['as it is asked for', {}],
    ['with the explicit consent of the person', { prompt: 'consent' }],
  ])('gets no refresh token, so that a page cannot be robbed of one: %s', async (_name, parameters) => {
    const { email } = await newUser();
    const flow = await beginFlow(world);
    const page = await flow.browser.open(await flow.url({ scope: 'openid email offline_access api', ...parameters }));
    const after = await flow.browser.submit(page, '/login', { email, password: PASSWORD });
    const { url } = after.url.includes('code=') ? after : await flow.browser.submit(after, '/confirm', { team: world.caller.teamId });
    const tokens = await flow.tokens(url);
    expect((await ask(tokens.access_token)).status).toBe(200);
    expect(tokens.refresh_token).toBeUndefined();
    expect(tokens.scope).not.toContain('offline_access');
  });

  test('cannot use a refresh token, whoever it was given to', async () => {
    const { refreshToken } = await signInToProgram(world, (await newUser()).email);
    await expect(oidc.refreshTokenGrant(await discover(world), refreshToken)).rejects.toMatchObject({
      error: 'invalid_request',
      error_description: 'requested grant type is not allowed for this client',
    });
  });
});

describe('one sign-in', () => {
  test('lasts until the sign-out; a program that the person lets keep access keeps it, as the person agreed', async () => {
    const { email } = await newUser();
    const { flow, page } = await signInPage();
    const tokens = await flow.tokens((await flow.browser.submit(page, '/login', { email, password: PASSWORD })).url);
    const program = await beginProgramFlow(world);
    const allowed = new CodeFlow(program.config, flow.browser, program.redirectUri);
    const consent = await flow.browser.open(await allowed.url({ prompt: 'consent' }));
    const { refresh_token: kept } = await allowed.tokens((await flow.browser.submit(consent, '/confirm')).url);
    const second = new CodeFlow(flow.config, flow.browser, flow.redirectUri);
    expect((await second.tokens((await flow.browser.open(await second.url({ prompt: 'none' }))).url)).access_token).toBeDefined();

    const stolen = flow.browser.copy();
    const out = new URL(`${world.server.url}/oidc/session/end`);
    out.search = new URLSearchParams({
      id_token_hint: tokens.id_token!,
      post_logout_redirect_uri: `${world.server.url}/signed-out`,
      state: 'x',
    }).toString();
    const question = await flow.browser.open(out.href);
    expect(question.html).toContain('Sign out?');
    expect((await flow.browser.submit(question, '/session/end/confirm', { logout: 'yes' })).url).toBe(
      `${world.server.url}/signed-out?state=x`,
    );

    expect((await ask((await oidc.refreshTokenGrant(program.config, kept!)).access_token)).status).toBe(200);
    const third = new CodeFlow(flow.config, flow.browser, flow.redirectUri);
    for (const browser of [flow.browser, stolen])
      expect(new URL((await browser.open(await third.url({ prompt: 'none' }))).url).searchParams.get('error')).toBe('login_required');
  });

  test('lets a user of two teams choose one of them and no other', async () => {
    const { id, email } = await newUser('operator');
    const south = await world.addTeam(`South ${id}`);
    const stranger = await world.addTeam(`Stranger ${id}`);
    await addUser(world, email, 'viewer', south.teamId);
    const { flow, page } = await signInPage();
    const choice = await flow.browser.submit(page, '/login', { email, password: PASSWORD });
    expect(choice.html).toContain('Choose a team');
    expect(choice.html).not.toContain(stranger.teamId);
    const { url } = await flow.browser.submit(choice, '/confirm', { team: south.teamId });
    const { access_token: token } = await flow.tokens(url);
    expect(await (await ask(token)).json()).toMatchObject({ data: { role: 'viewer', team: { id: south.teamId } } });

    const second = new CodeFlow(flow.config, flow.browser, flow.redirectUri);
    const anew = await flow.browser.open(await second.url({ prompt: 'login' }));
    const otherChoice = await flow.browser.submit(anew, '/login', { email, password: PASSWORD });
    const denied = await flow.browser.submit(otherChoice, '/confirm', { team: stranger.teamId });
    expect(new URL(denied.url).searchParams.get('error')).toBe('access_denied');
  });

  test('ends when another user signs in with the same browser', async () => {
    const [one, two] = [await newUser(), await newUser()];
    const { flow, page } = await signInPage();
    await flow.browser.submit(page, '/login', { email: one.email, password: PASSWORD });
    const silently = async (browser: FormBrowser) => {
      const silent = new CodeFlow(flow.config, browser, flow.redirectUri);
      const { url } = await browser.open(await silent.url({ prompt: 'none' }));
      return url.includes('code=') ? (await silent.tokens(url)).claims()?.sub : new URL(url).searchParams.get('error');
    };
    const stolen = flow.browser.copy();
    expect(await silently(stolen)).toBe(one.id);
    const again = new CodeFlow(flow.config, flow.browser, flow.redirectUri);
    const form = await flow.browser.open(await again.url({ prompt: 'login' }));
    const between = await flow.browser.submit(form, '/login', { email: two.email, password: PASSWORD });
    const { url } = await flow.browser.submit(between, '/session/end/confirm');
    expect((await again.tokens(url)).claims()).toMatchObject({ sub: two.id });
    expect([await silently(flow.browser), await silently(stolen)]).toEqual([two.id, 'login_required']);
  });
});

test('survives two restarts of the control plane', async () => {
  const own = await World.start({ routers: [] });
  try {
    await addUser(own, 'ada@example.org', 'viewer');
    const flow = await beginFlow(own);
    const page = await flow.browser.open(await flow.url());
    const tokens = await flow.tokens((await flow.browser.submit(page, '/login', { email: 'ada@example.org', password: PASSWORD })).url);
    const program = await signInToProgram(own, 'ada@example.org');
    const status = async (token: string) =>
      (await fetch(`${own.server.url}/api/me`, { headers: { authorization: `Bearer ${token}` } })).status;
    await own.restartServer();
    expect(await status(tokens.access_token)).toBe(200);
    await own.restartServer();
    expect(await status(tokens.access_token)).toBe(200);
    expect(await status((await oidc.refreshTokenGrant(program.flow.config, program.refreshToken)).access_token)).toBe(200);
    const second = new CodeFlow(flow.config, flow.browser, flow.redirectUri);
    expect((await flow.browser.open(await second.url({ prompt: 'none' }))).url).toContain('code=');
  } finally {
    await own.close();
  }
});

test.each([
  ['a proxy that ends TLS', 'https://signalbox.example.net', ''],
  ['a proxy that takes a folder off', 'https://example.net/signalbox', '/signalbox'],
])('behind %s uses URLs and cookies of the public URL', async (_name, publicUrl, folder) => {
  const own = await World.start({ routers: [], server: { SIGNALBOX_PUBLIC_URL: publicUrl } });
  try {
    await addUser(own, 'ada@example.org', 'viewer');
    const document = (await (await fetch(`${own.server.url}/oidc/.well-known/openid-configuration`)).json()) as Record<string, string>;
    expect(document).toMatchObject({
      issuer: `${publicUrl}/oidc`,
      authorization_endpoint: `${publicUrl}/oidc/auth`,
      jwks_uri: `${publicUrl}/oidc/jwks`,
    });
    // What the proxy does.
    const through = (url: string, init: RequestInit = {}) => fetch(url.replace(publicUrl, own.server.url), { ...init, redirect: 'manual' });
    const query = new URLSearchParams({
      client_id: 'signalbox-console',
      response_type: 'code',
      redirect_uri: `${publicUrl}/callback`,
      scope: 'openid',
      code_challenge: await oidc.calculatePKCECodeChallenge(oidc.randomPKCECodeVerifier()),
      code_challenge_method: 'S256',
    });
    const begun = await through(`${document['authorization_endpoint']}?${query.toString()}`);
    const location = new URL(begun.headers.get('location')!, publicUrl);
    expect(location.href).toMatch(new RegExp(`^${publicUrl}/oidc/interaction/`));
    const cookies = begun.headers.getSetCookie();
    expect(cookies.filter((cookie) => !/; secure/i.test(cookie))).toEqual([]);
    expect(cookies.some((cookie) => cookie.includes(`path=${folder}/oidc/interaction/`))).toBe(true);
    const cookie = cookies.map((line) => line.split(';')[0]).join('; ');
    const html = await (await through(location.href, { headers: { cookie } })).text();
    expect(html).toContain(`action="${folder}/oidc/interaction/`);
    const csrf = /name="csrf" value="([^"]+)"/.exec(html)![1]!;
    const body = new URLSearchParams({ csrf, email: 'ada@example.org', password: PASSWORD });
    const signedIn = await through(`${location.href}/login`, { method: 'POST', headers: { cookie }, body });
    expect(signedIn.headers.get('location')).toMatch(new RegExp(`^${publicUrl}/oidc/auth/`));
    const done = await through(signedIn.headers.get('location')!, { headers: { cookie } });
    expect(done.headers.get('location')).toMatch(new RegExp(`^${publicUrl}/callback\\?code=`));
    expect(done.headers.getSetCookie().find((line) => line.startsWith('signalbox_session='))).toMatch(
      new RegExp(`path=${folder}/oidc; .*secure; httponly`, 'i'),
    );
  } finally {
    await own.close();
  }
});

test('follows key changes of the running server: published, then in use, then replaced', async () => {
  const clock = new ManualClock(Date.now());
  // The clock decides when a key is used, and each of several control planes would wait for it.
  const own = await World.start({ routers: [], overrides: { clock }, spread: false });
  try {
    await addUser(own, 'ada@example.org', 'viewer');
    const env = {
      SIGNALBOX_DATABASE_URL: `sqlite:${path.join(own.folder, 'signalbox.db')}`,
      SIGNALBOX_SECRET_KEY_FILE: path.join(own.folder, 'secret.key'),
    };
    const cli = async (...words: string[]): Promise<{ id: string }> => {
      let output = '';
      expect(await runCli([...words, '--json'], { stdout: (text) => void (output += text), stderr: () => undefined, env })).toBe(0);
      return JSON.parse(output) as { id: string };
    };
    const published = async () =>
      ((await (await fetch(`${own.server.url}/oidc/jwks`)).json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
    const [first] = await published();
    const flow = await beginFlow(own);
    const page = await flow.browser.open(await flow.url());
    const tokens = await flow.tokens((await flow.browser.submit(page, '/login', { email: 'ada@example.org', password: PASSWORD })).url);
    const program = await signInToProgram(own, 'ada@example.org');
    const kidNow = async (token: string) => {
      const next = await oidc.refreshTokenGrant(program.flow.config, token);
      return { kid: decodeProtectedHeader(next.access_token).kid, token: next.refresh_token! };
    };

    const { id: second } = await cli('signing-key', 'rotate');
    clock.advance(30_000);
    await expect.poll(published).toEqual([first, second]);
    const before = await kidNow(program.refreshToken);
    expect(before.kid).toBe(first);
    clock.advance(15 * 60_000);
    await expect.poll(published).toEqual([second, first]);
    const after = await kidNow(before.token);
    expect(after.kid).toBe(second);

    const { id: third } = await cli('signing-key', 'replace');
    clock.advance(30_000);
    await expect.poll(published).toEqual([third]);
    expect((await fetch(`${own.server.url}/api/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } })).status).toBe(401);
    const silent = new CodeFlow(flow.config, flow.browser, flow.redirectUri);
    expect(new URL((await flow.browser.open(await silent.url({ prompt: 'none' }))).url).searchParams.get('error')).toBe('login_required');
  } finally {
    await own.close();
  }
});

test('has one request limit per user over all sessions of the console, ten times that of a key', async () => {
  const own = await World.start({ routers: [], server: { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '30' } });
  try {
    await addUser(own, 'ada@example.org', 'viewer');
    const tokens = [(await signIn(own, 'ada@example.org')).access_token, (await signIn(own, 'ada@example.org')).access_token];
    const statuses: number[] = [];
    for (let sent = 0; sent < 301; sent += 43) {
      const answers = Array.from({ length: 43 }, (_, index) =>
        fetch(`${own.server.url}/api/me`, { headers: { authorization: `Bearer ${tokens[index % 2]}` } }),
      );
      statuses.push(...(await Promise.all(answers)).map(({ status }) => status));
    }
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array<number>(300).fill(200), 429]);
  } finally {
    await own.close();
  }
});
