import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Storage } from '../../server/storage/db.ts';
import { TeamsService } from '../../server/teams/service.ts';
import type { Team } from '../../server/teams/types.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { waitUntil } from '../harness/wait-until.ts';

describeEachDatabase('teams', (open) => {
  const clock = new ManualClock();
  let storage: Storage;
  let teams: TeamsService;
  let north: Team;
  let south: Team;

  beforeEach(async () => {
    storage = await open();
    teams = new TeamsService({ storage, clock });
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
    expect(await teams.checkPassword('ADA@example.org', generatedPassword!)).toEqual({ matches: true, userId: member.userId, memberships: [member] });
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

  /** As the team's service, but what is about to be stored waits for something else to be done first. */
  const interrupted = (meanwhile: () => Promise<unknown>): TeamsService => {
    const write: Storage['writes']['write'] = async (work) => {
      await meanwhile();
      return storage.writes.write(work);
    };
    return new TeamsService({ storage: { ...storage, writes: { write } }, clock });
  };

  test('a password that is reset while another team invites the person opens neither team', async () => {
    const { member } = await teams.createUser({ teamId: north.id, email: 'ada@example.org', role: 'viewer', password: 'correct horse' });
    const invite = () => teams.createUser({ teamId: south.id, email: 'ada@example.org', role: 'admin', invited: true });
    await expect(interrupted(invite).resetPassword(north.id, member.userId)).rejects.toMatchObject({ code: 'conflict' });
    expect(await teams.checkPassword('ada@example.org', 'correct horse')).toMatchObject({ matches: true });
  });

  test('nobody is invited with a password that is reset meanwhile', async () => {
    const { member } = await teams.createUser({ teamId: north.id, email: 'ada@example.org', role: 'viewer', password: 'correct horse' });
    const reset = () => teams.resetPassword(north.id, member.userId);
    await expect(interrupted(reset).createUser({ teamId: south.id, email: 'ada@example.org', role: 'admin', invited: true })).rejects.toMatchObject({ code: 'conflict' });
    expect((await teams.activeMemberships(member.userId)).map(({ teamId }) => teamId)).toEqual([north.id]);
  });

  /** A service that has written, but has yet to be allowed to commit. */
  const held = (): { service: TeamsService; written: Promise<void>; commit: () => void } => {
    const [written, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const write: Storage['writes']['write'] = (work) =>
      storage.writes.write(async (tx) => {
        const done = await work(tx);
        written.resolve();
        await mayCommit.promise;
        return done;
      });
    return { service: new TeamsService({ storage: { ...storage, writes: { write } }, clock }), written: written.promise, commit: mayCommit.resolve };
  };

  test.each(['reset', 'invitation'])('of a reset and an invitation in the same moment the first is done: the %s', async (first) => {
    const { member } = await teams.createUser({ teamId: north.id, email: 'ada@example.org', role: 'viewer', password: 'correct horse' });
    const reset = (service: TeamsService): Promise<unknown> => service.resetPassword(north.id, member.userId);
    const invite = (service: TeamsService): Promise<unknown> => service.createUser({ teamId: south.id, email: 'ada@example.org', role: 'admin', invited: true });
    const [one, other] = first === 'reset' ? [reset, invite] : [invite, reset];
    const { service, written, commit } = held();
    const firstOne = one(service);
    await written;
    let isOver = false;
    const second = other(teams)
      .catch((error: unknown) => error)
      .finally(() => (isOver = true));
    const waiting = sql<{ count: number }>`select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    // SQLite has one writer: there it waits for the other in any case.
    const isWaiting = async () => storage.engine === 'sqlite' || Number((await waiting.execute(storage.db)).rows[0]?.count) > 0;
    await waitUntil('the second waits, or is through', async () => isOver || (await isWaiting()));
    commit();
    await firstOne;
    expect(await second).toMatchObject({ code: 'conflict' });
  });

  test('a password is reset by the only team of a person, and by no other', async () => {
    const { member } = await teams.createUser({ teamId: north.id, email: 'ada@example.org', role: 'viewer', password: 'correct horse' });
    await expect(teams.resetPassword(south.id, member.userId)).rejects.toMatchObject({ code: 'not_found' });
    const { password } = await teams.resetPassword(north.id, member.userId);
    expect(await teams.checkPassword('ada@example.org', 'correct horse')).toMatchObject({ matches: false });
    expect(await teams.checkPassword('ada@example.org', password)).toMatchObject({ matches: true });
    await teams.setPassword(member.userId, 'a password of her own');
    await teams.createUser({ teamId: south.id, email: 'ada@example.org', role: 'admin' });
    await expect(teams.resetPassword(south.id, member.userId)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('a password that one team gave does not open another: it must be the person\'s own first', async () => {
    const invitation = { teamId: south.id, email: 'ada@example.org', role: 'viewer', invited: true } as const;
    const { member } = await teams.createUser(invitation);
    const elsewhere = { ...invitation, teamId: north.id, role: 'admin' } as const;
    await expect(teams.createUser(elsewhere)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('change it first') });
    await teams.setPassword(member.userId, 'correct horse');
    expect(await teams.createUser(elsewhere)).toMatchObject({ generatedPassword: null });
  });

  test('sites belong to one team', async () => {
    const site = await teams.createSite({ teamId: north.id, name: 'Depot', timeZone: 'Europe/Madrid', latitude: 40.4, longitude: -3.7 });
    await teams.createSite({ teamId: south.id, name: 'Depot' });
    expect(await teams.findSite(north.id, 'Depot')).toEqual(site);
    expect(await teams.findSite(north.id, site.id)).toEqual(site);
    await expect(teams.findSite(south.id, site.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(teams.createSite({ teamId: north.id, name: 'Depot' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await teams.listSites(north.id)).toEqual([site]);
  });

  test.each([
    { timeZone: 'Mars/Olympus' },
    { latitude: 90.1 },
    { longitude: -181 },
    { latitude: Number.NaN },
  ])('a site with %j is refused', async (fields) => {
    await expect(teams.createSite({ teamId: north.id, name: 'Depot', ...fields })).rejects.toMatchObject({ code: 'invalid' });
  });
});
