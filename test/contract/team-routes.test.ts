import { beforeEach, describe, expect, test } from 'vitest';
import { AuthService } from '../../server/auth/service.ts';
import type { Storage } from '../../server/storage/db.ts';
import { teamRoutes } from '../../server/teams/routes.ts';
import { TeamsService } from '../../server/teams/service.ts';
import type { MembershipLoss } from '../../server/teams/types.ts';
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
  let app: TeamApp;
  let north: string;
  let south: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock();
    teams = new TeamsService({ storage, clock });
    app = new TeamApp((scope) => teamRoutes(scope, { teams }));
    north = (await teams.createTeam('North')).id;
    south = (await teams.createTeam('South')).id;
  });

  async function createSite(name = 'Depot', teamId = north): Promise<string> {
    const { body } = await app.ask(teamId, 'POST', '/api/sites', { name });
    return (body['data'] as { id: string }).id;
  }

  async function invite(email: string, role = 'admin'): Promise<string> {
    const { body } = await app.ask(north, 'POST', '/api/members', { email, role });
    return (body['data'] as { id: string }).id;
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

    test('a site is deleted once nobody stands in it, with what it left behind', async () => {
      const id = await createSite();
      const { agentId, routerId } = await seedRouter(storage, { teamId: north });
      await storage.db.updateTable('routers').set({ site_id: id }).where('id', '=', routerId).execute();
      await storage.db.updateTable('agents').set({ site_id: id }).where('id', '=', agentId).execute();
      const auth = new AuthService({ storage, clock, log: silentLog });
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
    test('an invited person gets a password that is shown once', async () => {
      const invited = await app.ask(north, 'POST', '/api/members', { email: 'Ada@example.org', role: 'operator' });
      const member = invited.body['data'] as { id: string; generated_password: string };
      expect(member).toMatchObject({ email: 'ada@example.org', role: 'operator', active: true });
      expect(invited.headers['cache-control']).toBe('no-store');
      expect(await teams.checkPassword('ada@example.org', member.generated_password)).toMatchObject({ matches: true, userId: member.id });
      const listed = await app.get(north, '/api/members');
      const { generated_password: _, ...shown } = member;
      expect(listed.body['data']).toEqual([shown]);
    });

    test('somebody with an account keeps the password they have, once it is their own', async () => {
      const id = await invite('ada@example.org');
      const elsewhere = () => app.ask(south, 'POST', '/api/members', { email: 'ada@example.org', role: 'viewer' });
      expect(await elsewhere()).toMatchObject({ status: 409, body: { message: expect.stringContaining('must change it first') } });
      expect((await app.get(south, '/api/members')).body['data']).toEqual([]);
      await teams.setPassword(id, 'a password of her own');
      expect((await elsewhere()).body['data']).toMatchObject({ id, role: 'viewer', generated_password: null });
      expect(await elsewhere()).toMatchObject({ status: 409, body: { message: expect.stringContaining('is a member') } });
      expect(await teams.checkPassword('ada@example.org', 'a password of her own')).toMatchObject({ matches: true });
    });

    test.each([
      ['email', { email: 'nobody', role: 'viewer' }],
      ['role', { email: 'a@example.org', role: 'owner' }],
    ])('%s is refused by name', async (field, body) => {
      expect(await app.ask(north, 'POST', '/api/members', body)).toMatchObject({ status: 422, body: { errors: { [field]: [expect.any(String)] } } });
    });

    test('role and activity change, each alone', async () => {
      await invite('root@example.org');
      const id = await invite('ada@example.org', 'viewer');
      const change = (body: object) => app.ask(north, 'PATCH', `/api/members/${id}`, body);
      expect((await change({ role: 'operator' })).body['data']).toMatchObject({ id, role: 'operator', active: true });
      expect((await change({ active: false })).body['data']).toMatchObject({ id, role: 'operator', active: false });
      expect((await app.get(north, '/api/members')).body['data']).toContainEqual(expect.objectContaining({ id, active: false }));
      expect((await app.ask(south, 'PATCH', `/api/members/${id}`, { active: true })).status).toBe(404);
    });

    test('a member is removed: gone from the list, the groups and every client of the team, and told once', async () => {
      await invite('root@example.org');
      const id = await invite('ada@example.org', 'operator');
      const group = { id: UNKNOWN, team_id: north, name: 'On call', schedule_id: null, mute: 'never', created_at: 1, updated_at: 1 };
      await storage.db.insertInto('notification_groups').values(group).execute();
      await storage.db.insertInto('group_recipients').values({ team_id: north, group_id: UNKNOWN, user_id: id, position: 0 }).execute();
      const clients = { name: 'x', kind: 'web', role: 'viewer', redirect_uris: '[]', post_logout_redirect_uris: '[]', secret_hash: null, created_by: null, created_at: 1 };
      await storage.db.insertInto('clients').values([{ ...clients, id: 'of-north', team_id: north }, { ...clients, id: 'of-south', team_id: south }]).execute();
      const record = { payload: '', grant_id: null, uid: null, account_id: id, expires_at: 1, consumed_at: null, model: 'Grant' };
      await storage.db.insertInto('provider_records').values(['of-north', 'of-south'].map((client) => ({ ...record, id: client, client_id: client }))).execute();
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
      await invite('root@example.org');
      const id = await invite('ada@example.org', 'operator');
      const losses: MembershipLoss[] = [];
      teams.losses.subscribe((loss) => losses.push(loss));
      expect((await app.ask(north, 'PATCH', `/api/members/${id}`, change)).status).toBe(200);
      expect(losses).toEqual(expected === undefined ? [] : [{ teamId: north, userId: id, ...expected }]);
    });

    test('the last active administrator is not removed', async () => {
      const id = await invite('root@example.org');
      expect(await app.ask(north, 'DELETE', `/api/members/${id}`)).toMatchObject({ status: 409, body: { code: 'conflict' } });
      expect(await teams.activeMemberships(id)).toHaveLength(1);
    });

    test('an API key has no membership to leave', async () => {
      expect(await app.ask(north, 'DELETE', '/api/me/membership')).toMatchObject({ status: 403 });
    });

    test('the last active administrator stays one, also when two go at once', async () => {
      const [ada, eve] = [await invite('ada@example.org'), await invite('eve@example.org')];
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
  ] as const)('%s %s needs the role %s', async (method, url, role) => {
    for (const actual of ['viewer', 'operator', 'admin'] as const) {
      const { status } = await app.ask(north, method, url, method === 'GET' || method === 'DELETE' ? undefined : {}, actual);
      const allowed = role === 'viewer' || actual === 'admin';
      expect(status === 403, actual).toBe(!allowed);
    }
  });
});
