import { createLocalJWKSet, jwtVerify } from 'jose';
import type { JSONWebKeySet } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FormBrowser } from '../harness/identity/browser.ts';
import { addUser, beginFlow, CodeFlow, PASSWORD } from '../harness/identity/sign-in.ts';
import { World } from '../harness/world.ts';

/** Programs of others, which an administrator registers and each person agrees to. */
let world: World;
const CALLBACK = 'https://tickets.example.net/callback';

beforeAll(async () => {
  world = await World.start({ routers: [] });
  await addUser(world, 'ada@example.org', 'admin');
});
afterAll(async () => world.close());

interface Registered {
  id: string;
  client_secret: string | null;
}

async function register(fields: object = {}): Promise<Registered> {
  const body = { name: 'Tickets & <Co>', kind: 'web', role: 'operator', redirect_uris: [CALLBACK], ...fields };
  const answer = await world.caller.call<{ data: Registered }>('POST', '/api/clients', body);
  expect(answer.status).toBe(200);
  return answer.body.data;
}

async function flowOf({ id, client_secret: secret }: Registered, redirectUri = CALLBACK): Promise<CodeFlow> {
  return beginFlow(world, { clientId: id, secret, redirectUri });
}

/** Up to the question whether the client may. */
async function consentPage(flow: CodeFlow, parameters: Record<string, string> = {}, email = 'ada@example.org') {
  const page = await flow.browser.open(await flow.url(parameters));
  return flow.browser.submit(page, '/login', { email, password: PASSWORD });
}

async function tokensOf(client: Registered, redirectUri = CALLBACK) {
  const flow = await flowOf(client, redirectUri);
  return flow.tokens((await flow.browser.submit(await consentPage(flow, { prompt: 'consent' }), '/confirm')).url);
}

const statusOf = async (token: string, path = '/api/me', method = 'GET'): Promise<number> =>
  (await fetch(`${world.server.url}${path}`, { method, headers: { authorization: `Bearer ${token}` } })).status;

describe('a web client', () => {
  test('requests consent, and may do what both it and the user may do', async () => {
    const client = await register();
    expect(client.client_secret).toMatch(/^sbx_cli_\w{62}$/);
    const flow = await flowOf(client);
    const page = await consentPage(flow, { prompt: 'consent' });
    expect(page.html).toContain('Allow Tickets &amp; &lt;Co&gt;?');
    expect(page.html).toContain('tickets.example.net');
    expect(page.html).toContain('run commands and jobs');
    expect(page.html).toContain('keep access while you are away');
    const tokens = await flow.tokens((await flow.browser.submit(page, '/confirm')).url);
    const me = await fetch(`${world.server.url}/api/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await me.json()).toMatchObject({ data: { kind: 'user', email: 'ada@example.org', role: 'operator' } });
    expect(await statusOf(tokens.access_token, '/api/api-keys')).toBe(403);
    const password = { current_password: PASSWORD, new_password: 'battery staple' };
    const headers = { authorization: `Bearer ${tokens.access_token}`, 'content-type': 'application/json' };
    const change = await fetch(`${world.server.url}/api/me/password`, { method: 'POST', headers, body: JSON.stringify(password) });
    expect(change.status).toBe(403);
    expect((await oidc.refreshTokenGrant(flow.config, tokens.refresh_token!)).access_token).toBeDefined();
    // Agreed once: the next time nobody is asked.
    const again = new CodeFlow(flow.config, flow.browser, CALLBACK);
    expect((await flow.browser.open(await again.url())).url).toContain('code=');
  });

  test("gets no refresh token without the user's explicit consent", async () => {
    const flow = await flowOf(await register());
    const page = await consentPage(flow);
    expect(page.html).not.toContain('while you are away');
    const tokens = await flow.tokens((await flow.browser.submit(page, '/confirm')).url);
    expect(tokens.refresh_token).toBeUndefined();
  });

  test("without the API scope only learns the user's identity", async () => {
    const flow = await flowOf(await register());
    const page = await consentPage(flow, { scope: 'openid email' });
    expect(page.html).not.toContain('run commands');
    const tokens = await flow.tokens((await flow.browser.submit(page, '/confirm')).url);
    expect(tokens.claims()).toMatchObject({ email: 'ada@example.org' });
    expect(await statusOf(tokens.access_token)).toBe(401);
  });

  test('is informed when the user declines', async () => {
    const flow = await flowOf(await register());
    const { url } = await flow.browser.submit(await consentPage(flow), '/abort');
    expect(url).toMatch(/^https:\/\/tickets\.example\.net\/callback\?error=access_denied/);
  });

  test('is unknown to users of other teams', async () => {
    const south = await world.addTeam('South');
    await addUser(world, 'bob@example.org', 'admin', south.teamId);
    const flow = await flowOf(await register());
    const page = await consentPage(flow, {}, 'bob@example.org');
    expect(page.status).toBe(403);
    expect(page.html).toContain('You are no member of the team');
  });

  test('needs its secret, and only the newest one is valid', async () => {
    const client = await register();
    await expect(tokensOf({ ...client, client_secret: 'wrong' })).rejects.toMatchObject({ status: 401 });
    await expect(tokensOf({ ...client, client_secret: null })).rejects.toMatchObject({ status: 401 });
    expect((await tokensOf(client)).access_token).toBeDefined();
    const renewed = await world.caller.call<{ data: Registered }>('POST', `/api/clients/${client.id}/secret`);
    await expect(tokensOf(client)).rejects.toMatchObject({ status: 401 });
    expect((await tokensOf(renewed.body.data)).access_token).toBeDefined();
  });

  test('is changed and deleted with immediate effect', async () => {
    const client = await register();
    const { access_token: token } = await tokensOf(client);
    expect(await statusOf(token, '/api/routers/x/transient-forwarding/y', 'DELETE')).toBe(404);
    await world.caller.call('PATCH', `/api/clients/${client.id}`, { role: 'viewer' });
    expect(await statusOf(token, '/api/routers/x/transient-forwarding/y', 'DELETE')).toBe(403);
    await world.caller.call('PATCH', `/api/clients/${client.id}`, { redirect_uris: ['https://elsewhere.example.net/'] });
    const flow = await flowOf(client);
    expect((await flow.browser.open(await flow.url())).status).toBe(400);
    expect((await world.caller.call('DELETE', `/api/clients/${client.id}`)).status).toBe(204);
    expect(await statusOf(token)).toBe(401);
  });
});

describe('other kinds', () => {
  test('a legacy browser application gets tokens in the fragment, without a code', async () => {
    const client = await register({ kind: 'implicit' });
    const browser = new FormBrowser(world.server.url);
    const query = {
      client_id: client.id,
      response_type: 'id_token token',
      redirect_uri: CALLBACK,
      scope: 'openid email api',
      nonce: 'n-1',
      state: 's-1',
    };
    const page = await browser.open(`${world.server.url}/oidc/auth?${new URLSearchParams(query).toString()}`);
    const consent = await browser.submit(page, '/login', { email: 'ada@example.org', password: PASSWORD });
    const { url } = await browser.submit(consent, '/confirm');
    const answer = new URLSearchParams(new URL(url).hash.slice(1));
    expect(url.startsWith(`${CALLBACK}#`)).toBe(true);
    expect(answer.get('state')).toBe('s-1');
    expect(await statusOf(answer.get('access_token')!)).toBe(200);
    const keys = (await (await fetch(`${world.server.url}/oidc/jwks`)).json()) as JSONWebKeySet;
    const { payload } = await jwtVerify(answer.get('id_token')!, createLocalJWKSet(keys), {
      issuer: `${world.server.url}/oidc`,
      audience: client.id,
    });
    expect(payload).toMatchObject({ nonce: 'n-1', email: 'ada@example.org' });
    // Published keys are public ones.
    for (const key of keys.keys)
      expect(Object.keys(key).filter((name) => ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'].includes(name))).toEqual([]);
  });

  test('clients not registered for it are refused the implicit flow', async () => {
    const client = await register({ kind: 'browser' });
    const query = {
      client_id: client.id,
      response_type: 'id_token token',
      redirect_uri: CALLBACK,
      scope: 'openid',
      nonce: 'n',
      state: 's',
    };
    const { url } = await new FormBrowser(world.server.url).open(`${world.server.url}/oidc/auth?${new URLSearchParams(query).toString()}`);
    expect(url).toContain('error=');
    expect(url).not.toContain('token=');
  });

  test('a native program may use any local port and no secret', async () => {
    const client = await register({ kind: 'native', redirect_uris: ['http://127.0.0.1/callback'] });
    expect(client.client_secret).toBeNull();
    expect((await tokensOf(client, 'http://127.0.0.1:54321/callback')).access_token).toBeDefined();
    const flow = await flowOf(client, 'http://127.0.0.1:54321/elsewhere');
    expect((await flow.browser.open(await flow.url())).status).toBe(400);
  });

  test('a browser application may request tokens from its own origin only', async () => {
    const client = await register({ kind: 'browser' });
    const ask = async (origin: string) => {
      const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', client_id: client.id });
      return (await fetch(`${world.server.url}/oidc/token`, { method: 'POST', headers: { origin }, body })).headers.get(
        'access-control-allow-origin',
      );
    };
    expect(await ask('https://tickets.example.net')).toBe('https://tickets.example.net');
    expect(await ask('https://evil.example')).toBeNull();
  });
});

test('no other client can take the name of the first-party application', async () => {
  const flow = await beginFlow(world, { redirectUri: CALLBACK });
  expect((await flow.browser.open(await flow.url())).status).toBe(400);
});
