import { beforeEach, expect, test } from 'vitest';
import type { Storage } from '../../server/platform/storage/db.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { SitesService } from '../../server/fleet/sites/service.ts';
import type { Team } from '../../server/access/teams/types.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';

describeEachDatabase('teams', (open) => {
  const clock = new ManualClock();
  let storage: Storage;
  let teams: TeamsService;
  let sites: SitesService;
  let north: Team;
  let south: Team;

  beforeEach(async () => {
    storage = await open();
    teams = new TeamsService({ storage, clock });
    sites = new SitesService({ storage, clock });
    north = await teams.createTeam('North');
    south = await teams.createTeam('South');
  });

  test('a team is found by id or name', async () => {
    expect(await teams.findTeam(north.id)).toEqual(north);
    expect(await teams.findTeam('South')).toEqual(south);
    await expect(teams.findTeam('East')).rejects.toMatchObject({ code: 'not_found' });
    expect((await teams.listTeams()).map((team) => team.name)).toEqual(['North', 'South']);
  });

  test.each(['North', ' North '])('the name %j is taken', async (name) => {
    await expect(teams.createTeam(name)).rejects.toMatchObject({ code: 'conflict' });
  });

  test.each(['', '  ', 'x'.repeat(101), '01890a5d-ac96-774b-bcce-b302099a8057', 'a\0b'])('the name %j is refused', async (name) => {
    await expect(teams.createTeam(name)).rejects.toMatchObject({ code: 'invalid' });
  });

  test('a new user gets a generated password, which opens the account and nothing else does', async () => {
    const { member, generatedPassword } = await teams.createUser({ teamId: north.id, email: ' Ada@Example.org', role: 'operator' });
    expect(member).toMatchObject({ email: 'ada@example.org', role: 'operator', teamId: north.id, active: true });
    expect(await teams.checkPassword('ADA@example.org', generatedPassword!)).toEqual({
      matches: true,
      userId: member.userId,
      memberships: [member],
    });
    expect(await teams.checkPassword('ada@example.org', `${generatedPassword}x`)).toMatchObject({ matches: false, userId: member.userId });
    expect(await teams.checkPassword('eve@example.org', generatedPassword!)).toEqual({ matches: false, userId: null, memberships: [] });
  });

  test('a person may be a member of two teams with two roles and keeps one password', async () => {
    const first = await teams.createUser({ teamId: north.id, email: 'ada@example.org', role: 'admin', password: 'correct horse' });
    clock.advance(1);
    const second = await teams.createUser({ teamId: south.id, email: 'ada@example.org', role: 'viewer', password: 'battery staple' });
    expect(second.member.userId).toBe(first.member.userId);
    expect(second.generatedPassword).toBeNull();
    expect(await teams.checkPassword('ada@example.org', 'battery staple')).toMatchObject({ matches: false });
    expect((await teams.checkPassword('ada@example.org', 'correct horse')).memberships.map((it) => it.role)).toEqual(['admin', 'viewer']);
    expect(await teams.listMembers(south.id)).toEqual([second.member]);
  });

  test('a member of the team already, a bad address and a short password are refused', async () => {
    const user = { teamId: north.id, email: 'ada@example.org', role: 'admin' as const };
    await teams.createUser(user);
    await expect(teams.createUser(user)).rejects.toMatchObject({ code: 'conflict' });
    await expect(teams.createUser({ ...user, email: 'ada' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(teams.createUser({ ...user, email: 'b@c.d', password: 'short' })).rejects.toMatchObject({ code: 'invalid' });
  });

  test('an unfit password names the field of the request', async () => {
    await teams.createUser({ teamId: north.id, email: 'ada@example.org', role: 'viewer', password: 'correct horse' });
    await expect(teams.changePassword('ada@example.org', 'correct horse', 'ada@example.org')).rejects.toMatchObject({
      code: 'invalid',
      errors: { new_password: ['must not be your email address or a part of it'] },
    });
    expect(await teams.checkPassword('ada@example.org', 'correct horse')).toMatchObject({ matches: true });
  });

  test('roles change in one team only, and a switched-off membership is not offered at login', async () => {
    const { member } = await teams.createUser({ teamId: north.id, email: 'ada@example.org', role: 'viewer', password: 'correct horse' });
    await teams.createUser({ teamId: south.id, email: 'ada@example.org', role: 'viewer' });
    await teams.changeMember(north.id, member.userId, { role: 'admin' });
    await teams.changeMember(south.id, member.userId, { active: false });
    const login = await teams.checkPassword('ada@example.org', 'correct horse');
    expect(login.memberships.map((it) => [it.teamId, it.role])).toEqual([[north.id, 'admin']]);
    const stranger = await teams.createUser({ teamId: south.id, email: 'bob@example.org', role: 'viewer' });
    await expect(teams.changeMember(north.id, stranger.member.userId, { role: 'admin' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('an account whose password an administrator was shown joins no other team until it has another one', async () => {
    const { member } = await teams.createUser({ teamId: north.id, email: 'ada@example.org', role: 'viewer', password: 'correct horse' });
    // As the upgrade leaves such accounts.
    await storage.db.updateTable('users').set({ password_shared: 1 }).where('id', '=', member.userId).execute();
    const elsewhere = { teamId: south.id, email: 'ada@example.org', role: 'admin' } as const;
    await expect(teams.createUser(elsewhere)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('set another one first'),
    });
    await expect(teams.changePassword('ada@example.org', 'correct horse', 'correct horse')).rejects.toMatchObject({ code: 'invalid' });
    await expect(teams.createUser(elsewhere)).rejects.toMatchObject({ code: 'conflict' });
    expect(await teams.changePassword('ada@example.org', 'correct horse', 'battery staple')).toBe(true);
    expect(await teams.createUser(elsewhere)).toMatchObject({ generatedPassword: null });
  });

  test('the moment from which sessions count rises with every password, also within one second', async () => {
    const { member } = await teams.createUser({ teamId: north.id, email: 'ada@example.org', role: 'viewer', password: 'correct horse' });
    const since = async () => teams.passwordSince('ada@example.org');
    const moments = [await since()];
    for (const password of ['battery staple', 'horse correct', 'staple battery']) {
      await teams.setPassword(member.userId, password);
      moments.push(await since());
    }
    expect(moments).toEqual([...new Set(moments)].toSorted((one, other) => one - other));
    expect(moments.every((moment) => moment % 1000 === 0)).toBe(true);
  });

  test('sites belong to one team', async () => {
    const site = await sites.create({ teamId: north.id, name: 'Depot', timeZone: 'Europe/Madrid', latitude: 40.4, longitude: -3.7 });
    await sites.create({ teamId: south.id, name: 'Depot' });
    expect(await sites.find(north.id, 'Depot')).toEqual(site);
    expect(await sites.find(north.id, site.id)).toEqual(site);
    await expect(sites.find(south.id, site.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(sites.create({ teamId: north.id, name: 'Depot' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await sites.list(north.id)).toEqual([site]);
  });

  test.each([{ timeZone: 'Mars/Olympus' }, { latitude: 90.1 }, { longitude: -181 }, { latitude: Number.NaN }])(
    'a site with %j is refused',
    async (fields) => {
      await expect(sites.create({ teamId: north.id, name: 'Depot', ...fields })).rejects.toMatchObject({ code: 'invalid' });
    },
  );
});
