import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { decodeJwt } from 'jose';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../server/platform/core/clock.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { acceptInvitation, declineInvitation, invite, setPasswordBy } from '../harness/identity/links.ts';
import { addUser, beginFlow } from '../harness/identity/sign-in.ts';
import { silentLog } from '../harness/silent-log.ts';
import { World } from '../harness/world.ts';
import type { Caller } from '../harness/world.ts';

/**
 * Every row of the table in docs/accounts.md, each with two hostile administrators. North has opened the first link itself, so it
 * knows the first password; South would like to. After each transition both try to get in, to lock out, and to learn.
 */
type State = 'none' | 'invited' | 'active' | 'switched off';

/** Of the first account, as North has made it; told to the person. */
const KNOWN_TO_NORTH = 'known to north too';
const OWN = 'known to the person only';

let world: World;
let lives = 0;
beforeAll(async () => {
  world = await World.start({ routers: [] });
  // Without any account the sign-in asks for no password.
  await addUser(world, 'somebody@example.org', 'viewer');
});
afterAll(async () => world.close());

/** One person between two teams. */
class Life {
  readonly north: Caller;
  readonly south: Caller;
  readonly email: string;
  /** What the person signs in with, once there is an account. */
  password: string | undefined;

  private constructor(north: Caller, south: Caller, email: string) {
    this.north = north;
    this.south = south;
    this.email = email;
  }

  static async begin(): Promise<Life> {
    lives += 1;
    return new Life(await world.addTeam(`North of ${lives}`), await world.addTeam(`South of ${lives}`), `person${lives}@example.org`);
  }

  /** A member of North, whose administrator opened the link first. */
  async joinNorth(role = 'operator'): Promise<void> {
    await this.accept(await invite(this.north, this.email, role), { next: KNOWN_TO_NORTH });
  }

  async joinSouth(): Promise<void> {
    await this.accept(await invite(this.south, this.email), { current: this.password!, next: OWN });
  }

  async accept({ url }: { url: string }, answer: { current?: string; next: string }): Promise<void> {
    expect((await acceptInvitation(world, url, answer)).status).toBe(200);
    this.password = answer.next;
  }

  async id(): Promise<string | undefined> {
    return (await world.server.services.teams.findPerson(this.email))?.userId;
  }

  async stateIn(team: Caller): Promise<State> {
    const { body: members } = await team.call<{ data: { email: string; active: boolean }[] }>('GET', '/api/members');
    const member = members.data.find(({ email }) => email === this.email);
    if (member) return member.active ? 'active' : 'switched off';
    const { body: invitations } = await team.call<{ data: { email: string; state: string }[] }>('GET', '/api/invitations');
    return invitations.data.some(({ email, state }) => email === this.email && state === 'open') ? 'invited' : 'none';
  }

  /** Signs in. @returns an access token for the team; undefined when this password does not lead there */
  async tokenFor(team: Caller, password = this.password!): Promise<string | undefined> {
    const flow = await beginFlow(world);
    let page = await flow.browser.submit(await flow.browser.open(await flow.url()), '/login', { email: this.email, password });
    if (page.html.includes('Choose a team')) page = await flow.browser.submit(page, '/confirm', { team: team.teamId });
    if (!page.url.includes('code=')) return undefined;
    const { access_token: token } = await flow.tokens(page.url);
    return decodeJwt(token)['team'] === team.teamId ? token : undefined;
  }
}

async function ask(token: string | undefined, method = 'GET', route = '/api/me', body?: object): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (await fetch(`${world.server.url}${route}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })).status;
}

const opens = async ({ url }: { url: string }): Promise<boolean> => (await fetch(url)).status === 200;

async function passwordLink(team: Caller, id: string): Promise<{ status: number; url: string }> {
  const { status, body } = await team.call<{ data?: { password_link: { url: string } } }>('POST', `/api/members/${id}/password`);
  return { status, url: body.data?.password_link.url ?? '' };
}

interface Transition {
  from: (life: Life) => Promise<unknown>;
  act: (life: Life) => Promise<void>;
  to: { north: State; south: State };
}

const nothing = async (): Promise<void> => undefined;

const TRANSITIONS: Record<string, Transition> = {
  invite: {
    from: nothing,
    async act({ north, email }) {
      const first = await invite(north, email);
      const second = await invite(north, email);
      expect([await opens(first), await opens(second)]).toEqual([false, true]);
      const { body } = await north.call<{ data: { api_key: string } }>('POST', '/api/api-keys', { name: 'small', role: 'operator' });
      expect(await ask(body.data.api_key, 'POST', '/api/members', { email, role: 'viewer' })).toBe(403);
    },
    to: { north: 'invited', south: 'none' },
  },
  'join-new': {
    from: nothing,
    async act(life) {
      const link = await invite(life.north, life.email);
      expect((await acceptInvitation(world, link.url, { next: OWN, repeated: 'another' })).status).toBe(422);
      expect((await acceptInvitation(world, link.url, { current: 'not needed', next: OWN })).status).toBe(422);
      await life.accept(link, { next: OWN });
      expect(await opens(link)).toBe(false);
    },
    to: { north: 'active', south: 'none' },
  },
  'join-known': {
    from: async (life) => life.joinNorth(),
    async act(life) {
      const before = await life.tokenFor(life.north);
      const reset = await passwordLink(life.north, (await life.id())!);
      const link = await invite(life.south, life.email, 'admin');
      for (const answer of [{ next: OWN }, { current: 'a guess', next: OWN }, { current: KNOWN_TO_NORTH, next: KNOWN_TO_NORTH }]) {
        expect((await acceptInvitation(world, link.url, answer)).status).toBe(422);
      }
      expect(await life.stateIn(life.south)).toBe('invited');
      await life.accept(link, { current: KNOWN_TO_NORTH, next: OWN });
      expect([await ask(before), await opens(link), await opens(reset)]).toEqual([401, false, false]);
    },
    to: { north: 'active', south: 'active' },
  },
  decline: {
    from: async (life) => life.joinNorth(),
    async act({ south, email }) {
      const link = await invite(south, email);
      expect((await declineInvitation(world, link.url)).status).toBe(200);
      expect(await opens(link)).toBe(false);
    },
    to: { north: 'active', south: 'none' },
  },
  withdraw: {
    from: async (life) => life.joinNorth(),
    async act({ north, south, email }) {
      const link = await invite(south, email);
      expect((await north.call('DELETE', `/api/invitations/${link.id}`)).status).toBe(404);
      expect((await south.call('DELETE', `/api/invitations/${link.id}`)).status).toBe(204);
      expect(await opens(link)).toBe(false);
    },
    to: { north: 'active', south: 'none' },
  },
  expire: {
    from: async (life) => life.joinNorth(),
    async act({ south, email }) {
      const link = await invite(south, email);
      const storage = await openStorage(world.databaseUrl, { log: silentLog });
      await sql`update invitations set expires_at = ${systemClock.now()} where id = ${link.id}`.execute(storage.db);
      await storage.close();
      expect(await opens(link)).toBe(false);
    },
    to: { north: 'active', south: 'none' },
  },
  void: {
    from: async (life) => life.joinNorth(),
    async act({ south, email }) {
      const { body } = await south.call<{ data: { id: string; api_key: string } }>('POST', '/api/api-keys', { name: 'hiring' });
      const answer = await fetch(`${world.server.url}/api/members`, {
        method: 'POST',
        headers: { authorization: `Bearer ${body.data.api_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ email, role: 'viewer' }),
      });
      const { data } = (await answer.json()) as { data: { invitation: { url: string } } };
      expect(await opens(data.invitation)).toBe(true);
      await south.call('DELETE', `/api/api-keys/${body.data.id}`);
      expect(await opens(data.invitation)).toBe(false);
    },
    to: { north: 'active', south: 'none' },
  },
  'change-role': {
    from: async (life) => life.joinNorth('admin'),
    async act(life) {
      await addUser(world, `root-${life.email}`, 'admin', life.north.teamId);
      const token = await life.tokenFor(life.north);
      expect(await ask(token, 'GET', '/api/audit')).toBe(200);
      expect((await life.north.call('PATCH', `/api/members/${await life.id()}`, { role: 'viewer' })).status).toBe(200);
      expect([await ask(token, 'GET', '/api/audit'), await ask(token)]).toEqual([403, 200]);
    },
    to: { north: 'active', south: 'none' },
  },
  'switch-off': {
    from: async (life) => life.joinNorth(),
    async act(life) {
      await life.joinSouth();
      const [inNorth, inSouth] = [await life.tokenFor(life.north), await life.tokenFor(life.south)];
      expect((await life.north.call('PATCH', `/api/members/${await life.id()}`, { active: false })).status).toBe(200);
      expect([await ask(inNorth), await ask(inSouth)]).toEqual([401, 200]);
    },
    to: { north: 'switched off', south: 'active' },
  },
  'switch-on': {
    from: async (life) => life.joinNorth(),
    async act(life) {
      await addUser(world, `root-${life.email}`, 'admin', life.north.teamId);
      for (const active of [false, true]) {
        expect((await life.north.call('PATCH', `/api/members/${await life.id()}`, { active })).status).toBe(200);
        expect(await ask(await life.tokenFor(life.north))).toBe(active ? 200 : 401);
      }
    },
    to: { north: 'active', south: 'none' },
  },
  remove: {
    from: async (life) => life.joinNorth(),
    async act(life) {
      await life.joinSouth();
      const [inNorth, inSouth] = [await life.tokenFor(life.north), await life.tokenFor(life.south)];
      expect((await life.north.call('DELETE', `/api/members/${await life.id()}`)).status).toBe(204);
      expect([await ask(inNorth), await ask(inSouth)]).toEqual([401, 200]);
    },
    to: { north: 'none', south: 'active' },
  },
  leave: {
    from: async (life) => life.joinNorth('admin'),
    async act(life) {
      const token = await life.tokenFor(life.north);
      expect(await ask(token, 'DELETE', '/api/me/membership')).toBe(409);
      await addUser(world, `root-${life.email}`, 'admin', life.north.teamId);
      expect(await ask(token, 'DELETE', '/api/me/membership')).toBe(204);
      expect(await ask(token)).toBe(401);
      // Without a team the account signs in to nothing, until somebody invites it.
      expect(await life.tokenFor(life.north)).toBeUndefined();
    },
    to: { north: 'none', south: 'none' },
  },
  'change-password': {
    from: async (life) => life.joinNorth(),
    async act(life) {
      await life.joinSouth();
      const token = await life.tokenFor(life.south);
      const change = (current: string) =>
        ask(token, 'POST', '/api/me/password', { current_password: current, new_password: `${OWN} again` });
      expect(await change(KNOWN_TO_NORTH)).toBe(422);
      expect(await change(OWN)).toBe(204);
      expect(await ask(token)).toBe(401);
      life.password = `${OWN} again`;
    },
    to: { north: 'active', south: 'active' },
  },
  'password-link': {
    from: async (life) => life.joinNorth(),
    async act(life) {
      const token = await life.tokenFor(life.north);
      const link = await passwordLink(life.north, (await life.id())!);
      expect(await ask(token)).toBe(200);
      expect((await setPasswordBy(world, link.url, OWN)).status).toBe(200);
      life.password = OWN;
      expect([await ask(token), await opens(link)]).toEqual([401, false]);
    },
    to: { north: 'active', south: 'none' },
  },
  'operator-password': {
    from: async (life) => life.joinNorth(),
    async act(life) {
      await life.joinSouth();
      const token = await life.tokenFor(life.south);
      const { generatedPassword } = await world.server.services.teams.replacePassword(life.email);
      life.password = generatedPassword!;
      expect(await ask(token)).toBe(401);
    },
    to: { north: 'active', south: 'active' },
  },
  'operator-add': {
    from: async (life) => life.accept(await invite(life.north, life.email), { next: OWN }),
    async act(life) {
      await addUser(world, life.email, 'viewer', life.south.teamId);
    },
    to: { north: 'active', south: 'active' },
  },
};

describe.each(Object.entries(TRANSITIONS))('%s', (_name, { from, act, to }) => {
  test('ends as the table says, and gives neither administrator more access', async () => {
    const life = await Life.begin();
    await from(life);
    await act(life);
    expect({ north: await life.stateIn(life.north), south: await life.stateIn(life.south) }).toEqual(to);
    await attack(life, life.north, life.south, to.north);
    await attack(life, life.south, life.north, to.south);
    // Nobody has locked the person out.
    for (const [team, state] of [
      [life.north, to.north],
      [life.south, to.south],
    ] as const) {
      if (life.password === undefined) continue;
      expect(await ask(await life.tokenFor(team))).toBe(state === 'active' ? 200 : 401);
    }
  });
});

/** All that an administrator of `own` can do about the person with what they have. */
async function attack(life: Life, own: Caller, other: Caller, state: State): Promise<void> {
  const id = await life.id();
  const isMember = state === 'active' || state === 'switched off';
  // Get in: by the password that North knows, by an invitation of one's own, by a link for a new password.
  expect(await life.tokenFor(other, KNOWN_TO_NORTH)).toSatisfy((token) => token === undefined || life.password === KNOWN_TO_NORTH);
  if (life.password === KNOWN_TO_NORTH) expect(await life.stateIn(life.south)).not.toBe('active');
  if (id !== undefined && !isMember) {
    const link = await invite(own, life.email, 'admin');
    expect((await acceptInvitation(world, link.url, { next: 'taken over' })).status).toBe(422);
    expect((await own.call('DELETE', `/api/invitations/${link.id}`)).status).toBe(204);
    // Lock out: as if the person were theirs.
    for (const [method, route, body] of [
      ['PATCH', '', { active: false }],
      ['DELETE', '', undefined],
      ['POST', '/password', undefined],
    ] as const) {
      expect((await own.call(method, `/api/members/${id}${route}`, body)).status).toBe(404);
    }
  }
  const isElsewhere = (await life.stateIn(other)) === 'active' || (await life.stateIn(other)) === 'switched off';
  if (id !== undefined && isMember && isElsewhere) expect((await passwordLink(own, id)).status).toBe(409);
  // Learn.
  const shown = await Promise.all(
    ['/api/members', '/api/invitations', '/api/audit'].map(async (route) => JSON.stringify((await own.call('GET', route)).body)),
  );
  for (const text of shown) expect(text).not.toContain(other.teamId);
}

test('the documentation lists exactly these rows', async () => {
  const text = await readFile(path.join(import.meta.dirname, '../../docs/accounts.md'), 'utf8');
  const rows = text.slice(text.indexOf('| transition |')).split('\n\n')[0]!.split('\n').slice(2);
  expect(rows.map((row) => row.split('|')[1]!.trim())).toEqual(Object.keys(TRANSITIONS));
});
