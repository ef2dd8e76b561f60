import { beforeEach, describe, expect, test } from 'vitest';
import type { Role } from '../../server/platform/core/principal.ts';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { teamRoutes } from '../../server/access/teams/routes.ts';
import { OPERATOR } from '../../server/access/teams/grantors/types.ts';
import { InvitationsService } from '../../server/access/teams/invitations/service.ts';
import { PasswordLinksService } from '../../server/access/teams/password-links/service.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { siteRoutes } from '../../server/fleet/sites/routes.ts';
import { SitesService } from '../../server/fleet/sites/service.ts';
import type { MembershipLoss } from '../../server/access/teams/types.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';

const UNKNOWN = '01890000-0000-7000-8000-000000000000';

describeEachDatabase('sites and members', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let teams: TeamsService;
  let invitations: InvitationsService;
  let app: TeamApp;
  let north: string;
  let south: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock();
    teams = new TeamsService({ storage, clock });
    invitations = new InvitationsService({ storage, clock });
    const passwordLinks = new PasswordLinksService({ storage, clock });
    app = new TeamApp((scope) => {
      teamRoutes(scope, { teams, invitations, passwordLinks, baseUrl: () => 'https://signalbox.test' });
      siteRoutes(scope, new SitesService({ storage, clock }));
    });
    north = (await teams.createTeam('North')).id;
    south = (await teams.createTeam('South')).id;
  });

  async function createSite(name = 'Depot', teamId = north): Promise<string> {
    const { body } = await app.ask(teamId, 'POST', '/api/sites', { name });
    return (body['data'] as { id: string }).id;
  }

  /** Somebody who is in the team already. */
  async function addMember(email: string, role: Role = 'admin', teamId = north): Promise<string> {
    return (await teams.createUser({ teamId, email, role, password: 'correct horse' })).member.userId;
  }

  describe('sites', () => {
    const depot = { name: 'Depot', time_zone: 'Europe/Madrid', latitude: 40.4168, longitude: -3.7038 };

    test('a site is created, read, listed and changed in parts', async () => {
      const created = await app.ask(north, 'POST', '/api/sites', depot);
      expect(created).toMatchObject({ status: 200, body: { status: 'success', data: depot } });
      const { id } = created.body['data'] as { id: string };
      expect((await app.get(north, `/api/sites/${id}`)).body).toEqual(created.body);
      expect((await app.get(north, '/api/sites')).body['data']).toEqual([created.body['data']]);
      const moved = await app.ask(north, 'PATCH', `/api/sites/${id}`, { latitude: null, longitude: null });
      expect(moved.body['data']).toMatchObject({ name: 'Depot', time_zone: 'Europe/Madrid', latitude: null, longitude: null });
      expect((await app.get(north, `/api/sites/${id}`)).body).toEqual(moved.body);
    });

    test('the newest come first, page by page', async () => {
      for (const name of ['a', 'b', 'c']) {
        clock.advance(1000);
        await createSite(name);
      }
      const first = await app.get(north, '/api/sites?limit=2');
      expect(first.body['data']).toMatchObject([{ name: 'c' }, { name: 'b' }]);
      const next = /<(.*)>; rel="next"/.exec(String(first.headers['link']))![1]!;
      expect((await app.get(north, next)).body['data']).toMatchObject([{ name: 'a' }]);
    });

    test.each([
      ['name', {}],
      ['name', { name: ' ' }],
      ['name', { name: 'x'.repeat(101) }],
      ['name', { name: UNKNOWN }],
      ['time_zone', { name: 'x', time_zone: '+01:00' }],
      ['time_zone', { name: 'x', time_zone: 'Mars/Olympus' }],
      ['latitude', { name: 'x', latitude: 90.5, longitude: 0 }],
      ['longitude', { name: 'x', latitude: 0, longitude: 181 }],
      ['longitude', { name: 'x', latitude: 0 }],
    ])('%s is refused by name: %j', async (field, body) => {
      const answer = await app.ask(north, 'POST', '/api/sites', body);
      expect(answer).toMatchObject({ status: 422, body: { code: 'invalid', errors: { [field]: [expect.any(String)] } } });
    });

    test('two sites of a team cannot have the same name', async () => {
      await createSite('Depot');
      const other = await createSite('Tower');
      expect(await app.ask(north, 'POST', '/api/sites', { name: 'Depot' })).toMatchObject({ status: 409 });
      expect(await app.ask(north, 'PATCH', `/api/sites/${other}`, { name: 'Depot' })).toMatchObject({ status: 409 });
      expect(await app.ask(south, 'POST', '/api/sites', { name: 'Depot' })).toMatchObject({ status: 200 });
    });

    test('an empty site is deleted with its remaining records', async () => {
      const id = await createSite();
      const { agentId, routerId } = await seedRouter(storage, { teamId: north });
      await storage.db.updateTable('routers').set({ site_id: id }).where('id', '=', routerId).execute();
      await storage.db.updateTable('agents').set({ site_id: id }).where('id', '=', agentId).execute();
      const auth = new CredentialsService({ storage, clock, log: silentLog });
      const { token } = await auth.createEnrolToken({ teamId: north, siteId: id });
      expect(await app.ask(north, 'DELETE', `/api/sites/${id}`)).toMatchObject({ status: 409, body: { code: 'conflict' } });
      await storage.db.updateTable('routers').set({ site_id: null }).execute();
      await storage.db.updateTable('agents').set({ revoked_at: 1 }).execute();
      expect(await app.ask(north, 'DELETE', `/api/sites/${id}`)).toMatchObject({ status: 204 });
      expect(await app.get(north, `/api/sites/${id}`)).toMatchObject({ status: 404 });
      await expect(auth.enrolAgent(token, 'gw')).rejects.toMatchObject({ code: 'unauthenticated' });
    });

    test('of another team they do not exist', async () => {
      const id = await createSite();
      for (const [method, body] of [['GET'], ['PATCH', { name: 'Mine' }], ['DELETE']] as const) {
        expect(await app.ask(south, method, `/api/sites/${id}`, body), method).toMatchObject({ status: 404, body: { code: 'not_found' } });
      }
      expect((await app.get(south, '/api/sites')).body['data']).toEqual([]);
    });
  });

  describe('members', () => {
    test('an invited person is no member yet, and the answer holds the only copy of the code', async () => {
      const invited = await app.ask(north, 'POST', '/api/members', { email: 'Ada@example.org', role: 'operator' });
      const { invitation, ...member } = invited.body['data'] as { invitation: { id: string; url: string; expires_at: string } };
      const created_at = new Date(clock.now()).toISOString();
      expect(member).toEqual({ id: null, email: 'ada@example.org', role: 'operator', active: false, created_at, state: 'invited' });
      expect(invitation.url).toMatch(/^https:\/\/signalbox\.test\/invitation\/[A-Za-z0-9]{40}$/);
      expect(Date.parse(invitation.expires_at) - clock.now()).toBe(7 * 24 * 3600_000);
      expect(invited.headers['cache-control']).toBe('no-store');
      expect((await app.get(north, '/api/members')).body['data']).toEqual([]);
      const listed = await app.get(north, '/api/invitations');
      expect(listed.body['data']).toMatchObject([{ id: invitation.id, email: 'ada@example.org', role: 'operator' }]);
      const code = invitation.url.split('/').at(-1)!;
      const stored = JSON.stringify(await storage.db.selectFrom('invitations').selectAll().execute());
      expect(JSON.stringify(listed.body) + stored).not.toContain(code);
    });

    test('the answer does not show whether a person has an account', async () => {
      await addMember('ada@example.org', 'admin', south);
      const shapes = await Promise.all(
        ['ada@example.org', 'eve@example.org'].map(async (email) => {
          const { status, body, headers } = await app.ask(north, 'POST', '/api/members', { email, role: 'viewer' });
          const { invitation, ...member } = body['data'] as { invitation: { url: string; expires_at: string } };
          return {
            status,
            ...member,
            email: '',
            expires: invitation.expires_at,
            length: invitation.url.length,
            fields: Object.keys(headers).sort(),
          };
        }),
      );
      expect(shapes[0]).toEqual(shapes[1]);
    });

    test('a member is not invited, switched off or not', async () => {
      await addMember('root@example.org');
      const id = await addMember('ada@example.org');
      const again = () => app.ask(north, 'POST', '/api/members', { email: 'Ada@example.org', role: 'viewer' });
      expect(await again()).toMatchObject({ status: 409, body: { message: expect.stringContaining('is already a member') } });
      await teams.changeMember(north, id, { active: false });
      expect(await again()).toMatchObject({ status: 409 });
    });

    test('invitations come in pages, of one team only, and are withdrawn once', async () => {
      const ids: string[] = [];
      for (const name of ['a', 'b', 'c']) {
        clock.advance(1000);
        const { body } = await app.ask(north, 'POST', '/api/members', { email: `${name}@example.org`, role: 'viewer' });
        ids.unshift((body['data'] as { invitation: { id: string } }).invitation.id);
      }
      const first = await app.get(north, '/api/invitations?limit=2');
      expect(first.body['data']).toMatchObject([{ id: ids[0] }, { id: ids[1] }]);
      const next = /<(.*)>; rel="next"/.exec(String(first.headers['link']))![1]!;
      expect((await app.get(north, next)).body['data']).toMatchObject([{ id: ids[2] }]);
      expect((await app.get(south, '/api/invitations')).body['data']).toEqual([]);
      expect((await app.ask(south, 'DELETE', `/api/invitations/${ids[0]}`)).status).toBe(404);
      expect((await app.ask(north, 'DELETE', `/api/invitations/${ids[0]}`)).status).toBe(204);
      expect((await app.ask(north, 'DELETE', `/api/invitations/${ids[0]}`)).status).toBe(409);
      expect((await app.get(north, '/api/invitations?limit=1')).body['data']).toMatchObject([{ id: ids[0], state: 'withdrawn' }]);
    });

    test('a team has at most 200 open invitations, and one for each person', async () => {
      const invite = (email: string) => invitations.create({ teamId: north, email, role: 'viewer', inviter: OPERATOR });
      for (let number = 0; number < 200; number += 1) await invite(`user${number}@example.org`);
      await expect(invite('one-more@example.org')).rejects.toMatchObject({ code: 'conflict' });
      await invite('user7@example.org');
      expect((await app.get(north, '/api/invitations')).body['data']).toHaveLength(200);
      clock.advance(7 * 24 * 3600_000);
      await invite('one-more@example.org');
    });

    test('a lost password becomes a link, and not a password', async () => {
      const id = await addMember('ada@example.org');
      const { status, headers, body } = await app.ask(north, 'POST', `/api/members/${id}/password`);
      expect({ status, cache: headers['cache-control'] }).toEqual({ status: 200, cache: 'no-store' });
      const { password_link: link } = body['data'] as { password_link: { url: string; expires_at: string } };
      expect(link.url).toMatch(/^https:\/\/signalbox\.test\/set-password\/[A-Za-z0-9]{40}$/);
      expect(Date.parse(link.expires_at) - clock.now()).toBe(24 * 3600_000);
      expect(await teams.checkPassword('ada@example.org', 'correct horse')).toMatchObject({ matches: true });
      expect((await app.ask(south, 'POST', `/api/members/${id}/password`)).status).toBe(404);
    });

    test.each([
      ['email', { email: 'nobody', role: 'viewer' }],
      ['role', { email: 'a@example.org', role: 'owner' }],
    ])('%s is refused by name', async (field, body) => {
      expect(await app.ask(north, 'POST', '/api/members', body)).toMatchObject({
        status: 422,
        body: { errors: { [field]: [expect.any(String)] } },
      });
    });

    test('role and activity change, each alone', async () => {
      await addMember('root@example.org');
      const id = await addMember('ada@example.org', 'viewer');
      const change = (body: object) => app.ask(north, 'PATCH', `/api/members/${id}`, body);
      expect((await change({ role: 'operator' })).body['data']).toMatchObject({ id, role: 'operator', active: true });
      expect((await change({ active: false })).body['data']).toMatchObject({ id, role: 'operator', active: false });
      expect((await app.get(north, '/api/members')).body['data']).toContainEqual(expect.objectContaining({ id, active: false }));
      expect((await app.ask(south, 'PATCH', `/api/members/${id}`, { active: true })).status).toBe(404);
    });

    test('a member is removed: gone from the list, the groups and every client of the team, and published once', async () => {
      await addMember('root@example.org');
      const id = await addMember('ada@example.org', 'operator');
      const group = { id: UNKNOWN, team_id: north, name: 'On call', schedule_id: null, mute: 'never', created_at: 1, updated_at: 1 };
      await storage.db.insertInto('notification_groups').values(group).execute();
      await storage.db.insertInto('group_recipients').values({ team_id: north, group_id: UNKNOWN, user_id: id, position: 0 }).execute();
      const clients = {
        name: 'x',
        kind: 'web',
        role: 'viewer',
        redirect_uris: '[]',
        post_logout_redirect_uris: '[]',
        secret_hash: null,
        created_by: null,
        created_at: 1,
      };
      await storage.db
        .insertInto('clients')
        .values([
          { ...clients, id: 'of-north', team_id: north },
          { ...clients, id: 'of-south', team_id: south },
        ])
        .execute();
      const record = { payload: '', grant_id: null, uid: null, account_id: id, expires_at: 1, consumed_at: null, model: 'Grant' };
      await storage.db
        .insertInto('provider_records')
        .values(['of-north', 'of-south'].map((client) => ({ ...record, id: client, client_id: client })))
        .execute();
      const losses: MembershipLoss[] = [];
      teams.losses.subscribe((loss) => losses.push(loss));

      expect((await app.ask(south, 'DELETE', `/api/members/${id}`)).status).toBe(404);
      expect(losses).toEqual([]);
      expect((await app.ask(north, 'DELETE', `/api/members/${id}`)).status).toBe(204);
      expect((await app.ask(north, 'DELETE', `/api/members/${id}`)).status).toBe(404);

      expect(losses).toEqual([{ kind: 'removed', teamId: north, userId: id, role: null }]);
      expect((await app.get(north, '/api/members')).body['data']).not.toContainEqual(expect.objectContaining({ id }));
      expect(await storage.db.selectFrom('group_recipients').selectAll().execute()).toEqual([]);
      expect(await storage.db.selectFrom('provider_records').select('client_id').execute()).toEqual([{ client_id: 'of-south' }]);
      expect(await teams.activeMemberships(id)).toEqual([]);
    });

    test.each([
      ['a lower role', { role: 'viewer' }, { kind: 'role_lowered', role: 'viewer' }],
      ['being switched off', { active: false }, { kind: 'switched_off', role: null }],
      ['a higher role', { role: 'admin' }, undefined],
      ['no change', { role: 'operator', active: true }, undefined],
    ])('%s is told as it is', async (_name, change, expected) => {
      await addMember('root@example.org');
      const id = await addMember('ada@example.org', 'operator');
      const losses: MembershipLoss[] = [];
      teams.losses.subscribe((loss) => losses.push(loss));
      expect((await app.ask(north, 'PATCH', `/api/members/${id}`, change)).status).toBe(200);
      expect(losses).toEqual(expected === undefined ? [] : [{ teamId: north, userId: id, ...expected }]);
    });

    test('the last active administrator is not removed', async () => {
      const id = await addMember('root@example.org');
      expect(await app.ask(north, 'DELETE', `/api/members/${id}`)).toMatchObject({ status: 409, body: { code: 'conflict' } });
      expect(await teams.activeMemberships(id)).toHaveLength(1);
    });

    test('an API key has no membership to leave', async () => {
      expect(await app.ask(north, 'DELETE', '/api/me/membership')).toMatchObject({ status: 403 });
    });

    test('the last active administrator stays one, also when two go at once', async () => {
      const [ada, eve] = [await addMember('ada@example.org'), await addMember('eve@example.org')];
      const answers = await Promise.all([
        app.ask(north, 'PATCH', `/api/members/${ada}`, { role: 'viewer' }),
        app.ask(north, 'PATCH', `/api/members/${eve}`, { active: false }),
      ]);
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
    });
  });

  test.each([
    ['GET', '/api/sites', 'viewer'],
    ['GET', '/api/members', 'viewer'],
    ['POST', '/api/sites', 'admin'],
    ['PATCH', `/api/sites/${UNKNOWN}`, 'admin'],
    ['DELETE', `/api/sites/${UNKNOWN}`, 'admin'],
    ['POST', '/api/members', 'admin'],
    ['PATCH', `/api/members/${UNKNOWN}`, 'admin'],
    ['DELETE', `/api/members/${UNKNOWN}`, 'admin'],
    ['GET', '/api/invitations', 'admin'],
    ['DELETE', `/api/invitations/${UNKNOWN}`, 'admin'],
  ] as const)('%s %s needs the role %s', async (method, url, role) => {
    for (const actual of ['viewer', 'operator', 'admin'] as const) {
      const { status } = await app.ask(north, method, url, method === 'GET' || method === 'DELETE' ? undefined : {}, actual);
      const allowed = role === 'viewer' || actual === 'admin';
      expect(status === 403, actual).toBe(!allowed);
    }
  });
});
