import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROLES } from '../../server/platform/core/principal.ts';
import type { Role } from '../../server/platform/core/principal.ts';
import { TokenMint, tampered, unsigned } from '../harness/identity/mint.ts';
import { addUser, signIn, signInToProgram } from '../harness/identity/sign-in.ts';
import { INTERNAL_ROUTES, PUBLIC_ROUTES } from '../harness/route-table.ts';
import { World } from '../harness/world.ts';

/**
 * Every route against every kind of credential. The kinds are never interchangeable: a credential for one interface is as
 * good as nothing at the others.
 */
const UNKNOWN = '01890000-0000-7000-8000-000000000000';

/** Sessions that are not, or no longer, good for anything. */
const BAD_SESSIONS = [
  'expired session',
  'session for another audience',
  'session of another issuer',
  'tampered session',
  'session signed by nobody',
  'session signed with the public key',
  'session signed by a stranger',
  'session without the scope api',
  'session of a member switched off',
  'session of a person in a team of others',
  'session of a deleted client',
  'ID token',
  'refresh token',
] as const;
/** Whom no public route lets in. */
const STRANGERS = [
  ...BAD_SESSIONS,
  'none',
  'malformed',
  'Basic',
  'made-up key',
  'revoked key',
  'expired key',
  "key under another team's id",
  'service token',
  'agent',
  'enrolment token',
] as const;
const SESSIONS = ['viewer session', 'operator session', 'admin session'] as const;
const INSTALLATION = 'session of an administrator of the installation';
/** Of people who are asked to leave the team: afterwards theirs are good for nothing, and nobody else asks with them. */
const LEAVERS = ['leaving viewer session', 'leaving operator session', 'leaving admin session'] as const;
type Credential = (typeof STRANGERS)[number] | (typeof SESSIONS)[number] | (typeof LEAVERS)[number] | typeof INSTALLATION | Role;
type Session = (typeof SESSIONS)[number] | typeof INSTALLATION | (typeof LEAVERS)[number] | (typeof BAD_SESSIONS)[number];

let world: World;
let headers: Record<Credential, string | undefined>;

beforeAll(async () => {
  world = await World.start({ routers: [] });
  headers = await credentials();
});
afterAll(async () => world.close());

async function credentials(): Promise<Record<Credential, string | undefined>> {
  const { credentials: auth } = world.server.services;
  const { teamId } = world.caller;
  const other = await world.addTeam('Other');
  const key = async (role: Role) => auth.createApiKey({ teamId, name: role, role, createdBy: null });
  const revoked = await key('admin');
  await auth.revokeApiKey(teamId, revoked.key.id);
  const expired = await key('admin');
  await auth.rotateApiKey(teamId, expired.key.id, { createdBy: null, overlapMs: 0 });
  const [tokenId, , secret] = other.apiKey.split(':');
  const enrolment = async () => (await auth.createEnrolToken({ teamId, siteId: null })).token;
  const agent = await auth.enrolAgent(await enrolment(), 'gw');
  const bearers = {
    malformed: 'abc',
    'made-up key': `${UNKNOWN}:${teamId}:${'a'.repeat(62)}`,
    'revoked key': revoked.apiKey,
    'expired key': expired.apiKey,
    "key under another team's id": `${tokenId}:${teamId}:${secret}`,
    'service token': (await auth.createServiceToken('billing')).token,
    agent: `${agent.agent_id}:${agent.secret}`,
    'enrolment token': await enrolment(),
    viewer: (await key('viewer')).apiKey,
    operator: (await key('operator')).apiKey,
    admin: (await key('admin')).apiKey,
    ...(await sessions(other.teamId)),
  };
  const asHeaders = Object.fromEntries(Object.entries(bearers).map(([name, bearer]) => [name, `Bearer ${bearer}`])) as Record<
    keyof typeof bearers,
    string
  >;
  return { ...asHeaders, none: undefined, Basic: `Basic ${Buffer.from('a:b').toString('base64')}` };
}

async function sessions(otherTeamId: string): Promise<Record<Session, string>> {
  const { teams, identity } = world.server.services;
  const { teamId } = world.caller;
  const mint = await TokenMint.open(world);
  const [viewer, operator, admin, gone] = [
    await addUser(world, 'viewer@example.org', 'viewer'),
    await addUser(world, 'operator@example.org', 'operator'),
    await addUser(world, 'admin@example.org', 'admin'),
    await addUser(world, 'gone@example.org', 'admin'),
  ];
  await teams.changeMember(teamId, gone, { active: false });
  const tokens = await signIn(world, 'admin@example.org');
  const { client } = await identity.clients.create({
    teamId,
    name: 'x',
    kind: 'browser',
    role: 'admin',
    redirectUris: ['https://x.example.net/'],
    createdBy: null,
  });
  await identity.clients.delete(teamId, client.id);
  const person = { sub: admin, team: teamId };
  const installer = await addUser(world, 'installer@example.org', 'viewer');
  await teams.setInstallationAdmin('installer@example.org', true);
  const leaver = async (role: Role) => mint.token({ sub: await addUser(world, `leaving-${role}@example.org`, role), team: teamId });
  return {
    'leaving viewer session': await leaver('viewer'),
    'leaving operator session': await leaver('operator'),
    'leaving admin session': await leaver('admin'),
    [INSTALLATION]: await mint.token({ sub: installer, team: teamId }),
    'viewer session': await mint.token({ sub: viewer, team: teamId }),
    'operator session': await mint.token({ sub: operator, team: teamId }),
    'admin session': tokens.access_token,
    'expired session': await mint.token({ ...person, exp: Math.floor(Date.now() / 1000) - 1 }),
    'session for another audience': await mint.token({ ...person, aud: 'https://other.example.net' }),
    'session of another issuer': await mint.token({ ...person, iss: 'https://other.example.net/oidc' }),
    'tampered session': tampered(tokens.access_token, { role: 'admin', team: otherTeamId }),
    'session signed by nobody': unsigned(tokens.access_token),
    'session signed with the public key': await mint.signedWithPublicKey(person),
    'session signed by a stranger': await mint.signedByStranger(person),
    'session without the scope api': await mint.token({ ...person, client_id: await liveClient(), scope: 'openid' }),
    'session of a member switched off': await mint.token({ sub: gone, team: teamId }),
    'session of a person in a team of others': await mint.token({ ...person, team: otherTeamId }),
    'session of a deleted client': await mint.token({ ...person, client_id: client.id, scope: 'api' }),
    'ID token': tokens.id_token!,
    'refresh token': (await signInToProgram(world, 'admin@example.org')).refreshToken,
  };
}

async function liveClient(): Promise<string> {
  const wanted = {
    teamId: world.caller.teamId,
    name: 'live',
    kind: 'browser',
    role: 'admin',
    redirectUris: ['https://x.example.net/'],
    createdBy: null,
  } as const;
  return (await world.server.services.identity.clients.create({ ...wanted, redirectUris: [...wanted.redirectUris] })).client.id;
}

/** The status, and the error if it is one. A body that never ends is not waited for. */
async function ask(credential: Credential, method: string, url: string): Promise<{ status: number; code: string | undefined }> {
  const authorization = headers[credential];
  const answer = await fetch(url, { method, ...(authorization === undefined ? {} : { headers: { authorization } }) });
  if (answer.status < 400) {
    await answer.body?.cancel();
    return { status: answer.status, code: undefined };
  }
  const problem = (await answer.json()) as { status: number; code: string; message: string };
  expect(problem).toMatchObject({ status: answer.status, message: expect.any(String) });
  return { status: answer.status, code: problem.code };
}

const fill = (path: string): string => path.replaceAll(/\{\w+\}/g, UNKNOWN);

describe.each(PUBLIC_ROUTES)('$method $path', ({ method, path, role, kind, body }) => {
  const isLeaving = `${method} ${path}` === 'DELETE /api/me/membership';

  test.each(STRANGERS)('%s: 401', async (credential) => {
    expect(await ask(credential, method, world.server.url + fill(path))).toEqual({ status: 401, code: 'unauthenticated' });
  });

  test.each(ROLES)(`a key with the role %s, where ${role} is needed`, async (actual) => {
    // No body and unknown ids: who is let in is told so by 404 or 422, and nothing happens.
    const { status } = await ask(actual, method, world.server.url + fill(path));
    if (ROLES.indexOf(actual) < ROLES.indexOf(role) || kind === 'installation') expect(status).toBe(403);
    // A key is no person. Where a body is wanted, its absence is told first.
    else if (kind === 'person') expect(status).toBe(body === undefined ? 403 : 422);
    else expect([200, 404, 422]).toContain(status);
  });

  test.each(SESSIONS)(`a %s, where ${role} is needed`, async (credential) => {
    const { status } = await ask(isLeaving ? `leaving ${credential}` : credential, method, world.server.url + fill(path));
    const actual = credential.split(' ')[0] as Role;
    if (ROLES.indexOf(actual) < ROLES.indexOf(role) || kind === 'installation') expect(status).toBe(403);
    else if (isLeaving) expect(status).toBe(204);
    // 409: this control plane has no account at the provider.
    else expect([200, 404, 409, 422]).toContain(status);
  });
});

describe.each(PUBLIC_ROUTES.filter(({ kind }) => kind === 'installation'))('$method $path', ({ method, path }) => {
  test('lets an administrator of the installation in, who is a viewer in the team', async () => {
    expect([200, 404]).toContain((await ask(INSTALLATION, method, world.server.url + fill(path))).status);
  });
});

describe.each(INTERNAL_ROUTES)('%s', (path) => {
  test('a service token: 200', async () => {
    expect(await ask('service token', 'GET', world.server.url + path)).toMatchObject({ status: 200 });
  });

  test.each([...STRANGERS.filter((kind) => kind !== 'service token'), ...ROLES, ...SESSIONS])('%s: 401', async (credential) => {
    expect(await ask(credential, 'GET', world.server.url + path)).toEqual({ status: 401, code: 'unauthenticated' });
  });

  test('a revoked service token: 401', async () => {
    const { credentials: auth } = world.server.services;
    const { record, token } = await auth.createServiceToken('short');
    const status = async () => (await fetch(world.server.url + path, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await status()).toBe(200);
    await auth.revokeServiceToken(record.id);
    expect(await status()).toBe(401);
  });

  test('does not appear in the API document', async () => {
    const document = (await (await fetch(`${world.server.url}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths).filter((documented) => documented.startsWith('/internal'))).toEqual([]);
  });
});

test('the internal status reports the counts', async () => {
  const answer = await fetch(`${world.server.url}/internal/status`, { headers: { authorization: headers['service token']! } });
  const nothing = { connected_agents: 0, open_forwards: 0, queued_jobs: 0, running_jobs: 0, ignored_forwarding: 0, warnings: [] };
  expect(await answer.json()).toEqual({ status: 'success', data: { version: '0.1.0', uptime_seconds: expect.any(Number), ...nothing } });
});

test('the plant demonstration accepts every bearer token of the service and no others', async () => {
  for (const credential of [...STRANGERS, ...SESSIONS, ...ROLES] as const) {
    const authorization = headers[credential];
    const answer = await fetch(`${world.server.sandboxUrl!}/plants`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
      body: JSON.stringify({ id: 1, name: 'fern' }),
    });
    expect(answer.status, credential).toBe(([...ROLES, ...SESSIONS] as readonly string[]).includes(credential) ? 200 : 401);
  }
});

test('an agent revoked over the API loses its tunnel', async () => {
  const own = await World.start();
  try {
    await own.routerIds();
    const { body } = await own.caller.call<{ data: { id: string; connected: boolean }[] }>('GET', '/api/agents');
    expect(body.data).toMatchObject([{ connected: true }]);
    expect((await own.caller.call('DELETE', `/api/agents/${body.data[0]!.id}`)).status).toBe(204);
    await expect.poll(() => own.server.services.tunnelRegistry.size).toBe(0);
  } finally {
    await own.close();
  }
});
