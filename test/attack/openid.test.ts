import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addUser, beginFlow, PASSWORD, signIn } from '../harness/identity/sign-in.ts';
import { World } from '../harness/world.ts';

/** Known attacks on OpenID providers, with two clients of one team. */

interface Client {
  id: string;
  client_secret: string;
  callback: string;
}

const EMAIL = 'ada@example.org';
let world: World;
let tickets: Client;
let mallory: Client;

async function register(name: string): Promise<Client> {
  const callback = `https://${name}.example.net/callback`;
  const body = { name, kind: 'web', role: 'operator', redirect_uris: [callback] };
  const { data } = (await world.caller.call<{ data: Client }>('POST', '/api/clients', body)).body;
  return { ...data, callback };
}

beforeAll(async () => {
  world = await World.start({ routers: [] });
  await addUser(world, EMAIL, 'admin');
  tickets = await register('tickets');
  mallory = await register('mallory');
});
afterAll(async () => world.close());

const formatted = (parameters: Record<string, string>): string => new URLSearchParams(parameters).toString();

describe('an authorization request', () => {
  const TRICKS: [string, Record<string, string>, string][] = [
    ['PKCE in clear', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['PKCE left out', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
    ['the implicit flow', { response_type: 'id_token token' }, 'invalid_request'],
    ['a token in place of a code', { response_type: 'token' }, 'unsupported_response_type'],
    ['a code and a token', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['another window', { response_mode: 'web_message' }, 'unsupported_response_mode'],
    ['a request object without a signature', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    ['a request object to be fetched from inside', { request_uri: 'http://127.0.0.1:1/' }, 'request_uri_not_supported'],
    ['a token for another API', { resource: 'https://elsewhere.example' }, 'invalid_target'],
    ['a forged hint of who it is', { id_token_hint: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.', prompt: 'none' }, 'invalid_request'],
    ['a client that registers itself', { registration: '{}' }, 'registration_not_supported'],
  ];
  const ask = async (trick: Record<string, string>): Promise<Response> => {
    const proper = {
      client_id: tickets.id,
      response_type: 'code',
      redirect_uri: tickets.callback,
      scope: 'openid',
      state: 's',
      nonce: 'n',
    };
    const challenge = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' };
    return fetch(`${world.server.url}/oidc/auth?${formatted({ ...proper, ...challenge, ...trick })}`, { redirect: 'manual' });
  };

  test.each(TRICKS)('with %s is refused', async (_what, trick, error) => {
    const { searchParams, hash } = new URL((await ask(trick)).headers.get('location')!);
    expect(new URLSearchParams(hash.slice(1)).get('error') ?? searchParams.get('error')).toBe(error);
  });

  test('with the redirect URI of another client, or a similar one, does not redirect', async () => {
    for (const redirect_uri of [
      mallory.callback,
      `${tickets.callback}/`,
      `${tickets.callback}?x=1`,
      `${tickets.callback}#`,
      tickets.callback.replace('https', 'http'),
    ]) {
      const answer = await ask({ redirect_uri });
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    }
  });
});

test('a code is refused from another client and without its verifier', async () => {
  const flow = await beginFlow(world, { clientId: tickets.id, secret: tickets.client_secret, redirectUri: tickets.callback });
  const consent = await flow.browser.submit(await flow.browser.open(await flow.url({ prompt: 'consent' })), '/login', {
    email: EMAIL,
    password: PASSWORD,
  });
  const { url } = await flow.browser.submit(consent, '/confirm');
  const code = new URL(url).searchParams.get('code')!;
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: tickets.callback };
  for (const [client, more] of [
    [mallory, { code_verifier: 'x'.repeat(43) }],
    [tickets, {}],
    [tickets, { code_verifier: 'x'.repeat(43) }],
  ] as const) {
    const authorization = `Basic ${Buffer.from(`${client.id}:${client.client_secret}`).toString('base64')}`;
    const answer = await fetch(`${world.server.url}/oidc/token`, {
      method: 'POST',
      headers: { authorization },
      body: formatted({ ...exchange, ...more }),
      signal: AbortSignal.timeout(5000),
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, {}]);
  }
});

test('a foreign page cannot sign a user out or redirect the user', async () => {
  const { id_token: hint = '' } = await signIn(world, EMAIL);
  const end = (parameters: Record<string, string>) =>
    fetch(`${world.server.url}/oidc/session/end?${formatted(parameters)}`, { redirect: 'manual' });
  const away = { post_logout_redirect_uri: 'https://elsewhere.example/' };
  for (const given of [{ id_token_hint: hint, ...away }, { id_token_hint: `${hint.slice(0, -8)}AAAAAAAA` }, away]) {
    const answer = await end(given);
    expect(answer.headers.get('location')).toBeNull();
  }
  const confirm = await fetch(`${world.server.url}/oidc/session/end/confirm`, {
    method: 'POST',
    body: new URLSearchParams({ logout: 'yes', xsrf: 'guess' }),
  });
  expect(confirm.status).toBe(400);
});

test('no other token is accepted as an access token', async () => {
  const { id_token: idToken = '', access_token: accessToken } = await signIn(world, EMAIL);
  const [, payload = '', signature = ''] = accessToken.split('.');
  const unsigned = (header: object): string => Buffer.from(JSON.stringify(header)).toString('base64url');
  const forged = [
    idToken,
    `${unsigned({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
    `${unsigned({ alg: 'HS256', typ: 'at+jwt' })}.${payload}.${signature}`,
  ];
  for (const bearer of forged) {
    expect((await fetch(`${world.server.url}/api/me`, { headers: { authorization: `Bearer ${bearer}` } })).status).toBe(401);
  }
});

test.each(['/oidc/reg', '/oidc/me', '/oidc/token/introspection', '/oidc/device/auth', '/oidc/request'])(
  '%s does not exist',
  async (path) => {
    expect((await fetch(`${world.server.url}${path}`, { method: 'POST' })).status).toBe(404);
  },
);
