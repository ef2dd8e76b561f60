import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { OPERATOR } from '../../server/access/teams/grantors/types.ts';
import type { Grantor } from '../../server/access/teams/grantors/types.ts';
import { InvitationsService } from '../../server/access/teams/invitations/service.ts';
import type { Proof } from '../../server/access/teams/invitations/types.ts';
import { PasswordLinksService } from '../../server/access/teams/password-links/service.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const ADA = 'ada@example.org';
const DAY_MS = 24 * 3600_000;

describeEachDatabase('invitations and password links', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let teams: TeamsService;
  let invitations: InvitationsService;
  let links: PasswordLinksService;
  let north: string;
  let south: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock();
    const deps = { storage, clock };
    teams = new TeamsService(deps);
    invitations = new InvitationsService(deps);
    links = new PasswordLinksService(deps);
    north = (await teams.createTeam('North')).id;
    south = (await teams.createTeam('South')).id;
  });

  const addUser = async (teamId: string, email = ADA, role: 'viewer' | 'operator' | 'admin' = 'viewer'): Promise<string> =>
    (await teams.createUser({ teamId, email, role, password: 'correct horse' })).member.userId;
  const offer = async (teamId: string, inviter: Grantor = OPERATOR) => invitations.create({ teamId, email: ADA, role: 'admin', inviter });
  const byPassword = (current: string, next = 'battery staple'): Proof => ({ by: 'password', current, next });
  const teamsOf = async (userId: string) => (await teams.activeMemberships(userId)).map(({ teamId }) => teamId);
  const states = async (teamId: string) => (await invitations.list(teamId)).map((invitation) => invitations.stateOf(invitation));

  /** A storage in which something else happens after everything was looked at, and before it is written. */
  const interrupted = (meanwhile: () => Promise<unknown>): Storage => ({
    ...storage,
    writes: {
      write: async (work) => {
        await meanwhile();
        return storage.writes.write(work);
      },
    },
  });

  test('a new person becomes a member with their own password, once', async () => {
    const { invitation, code } = await offer(north);
    expect(await invitations.findOpen(code)).toEqual(invitation);
    const member = await invitations.accept(invitation, byPassword(''));
    expect(member).toMatchObject({ teamId: north, email: ADA, role: 'admin', active: true });
    expect(await teams.checkPassword(ADA, 'battery staple')).toMatchObject({ matches: true, userId: member.userId, memberships: [member] });
    expect(await invitations.findOpen(code)).toBeUndefined();
    await expect(invitations.accept(invitation, byPassword('battery staple', 'one more'))).rejects.toMatchObject({ code: 'conflict' });
    expect(await states(north)).toEqual(['accepted']);
  });

  test.each([
    ['the wrong password', { by: 'password', current: 'wrong', next: 'battery staple' }, 'invalid'],
    ['no password', { by: 'password', current: '', next: 'battery staple' }, 'invalid'],
    ['the same password again', { by: 'password', current: 'correct horse', next: 'correct horse' }, 'invalid'],
    ['a short password', { by: 'password', current: 'correct horse', next: 'short' }, 'invalid'],
    ['a common password', { by: 'password', current: 'correct horse', next: 'Password2031' }, 'invalid'],
    ['the own address', { by: 'password', current: 'correct horse', next: ADA }, 'invalid'],
    ['another verified address', { by: 'provider', email: 'eve@example.org' }, 'forbidden'],
  ] satisfies [string, Proof, string][])('somebody with an account does not join with %s', async (_name, proof, code) => {
    const id = await addUser(north);
    const { invitation } = await offer(south);
    await expect(invitations.accept(invitation, proof)).rejects.toMatchObject({ code });
    expect(await teamsOf(id)).toEqual([north]);
    expect(await teams.checkPassword(ADA, 'correct horse')).toMatchObject({ matches: true });
    expect(await states(south)).toEqual(['open']);
  });

  test('a further team takes the present password and another one in its place', async () => {
    const id = await addUser(north);
    const since = await teams.passwordSince(ADA);
    const { invitation } = await offer(south);
    await invitations.accept(invitation, byPassword('correct horse'));
    expect((await teamsOf(id)).toSorted()).toEqual([north, south].toSorted());
    expect(await teams.checkPassword(ADA, 'correct horse')).toMatchObject({ matches: false });
    expect(await teams.passwordSince(ADA)).toBeGreaterThan(since);
  });

  test('whom the provider outside has verified joins without a password, and has none afterwards', async () => {
    await addUser(north);
    const { invitation } = await offer(south);
    await invitations.accept(invitation, { by: 'provider', email: ' Ada@Example.org' });
    expect(await teams.checkPassword(ADA, 'correct horse')).toMatchObject({ matches: false });
    expect((await teams.checkPassword(ADA, '')).memberships).toHaveLength(2);
  });

  test('in an account without a password no password is the right one', async () => {
    const first = await offer(north);
    const { userId } = await invitations.accept(first.invitation, { by: 'provider', email: ADA });
    const { invitation } = await offer(south);
    await expect(invitations.accept(invitation, byPassword(''))).rejects.toMatchObject({ code: 'invalid' });
    expect(await teamsOf(userId)).toEqual([north]);
  });

  describe('an invitation opens nothing', () => {
    const isOver = async (code: string, state: string): Promise<void> => {
      const [invitation] = await invitations.list(north);
      expect(invitations.stateOf(invitation!)).toBe(state);
      expect(await invitations.findOpen(code)).toBeUndefined();
      await expect(invitations.accept(invitation!, byPassword(''))).rejects.toMatchObject({ code: 'conflict' });
      expect(await teams.hasAccount(ADA)).toBe(false);
    };

    test('after a week', async () => {
      const { code } = await offer(north);
      clock.advance(7 * DAY_MS - 1);
      expect(await invitations.findOpen(code)).toBeDefined();
      clock.advance(1);
      await isOver(code, 'expired');
    });

    test('once it is withdrawn or declined, and never both', async () => {
      const { code, invitation } = await offer(north);
      expect(await invitations.decline(invitation)).toBe(true);
      await expect(invitations.withdraw(north, invitation.id)).rejects.toMatchObject({ code: 'conflict' });
      await isOver(code, 'declined');
    });

    test('once it is replaced', async () => {
      const { code } = await offer(north);
      const next = await offer(north);
      expect(await invitations.findOpen(code)).toBeUndefined();
      expect(await invitations.findOpen(next.code)).toBeDefined();
    });

    test.each([
      ['is removed', async (id: string) => teams.removeMember(north, id)],
      ['is switched off', async (id: string) => teams.changeMember(north, id, { active: false })],
      ['loses the role', async (id: string) => teams.changeMember(north, id, { role: 'operator' })],
    ])('when the inviter %s, also if they come back', async (_name, act) => {
      await addUser(north, 'root@example.org', 'admin');
      const id = await addUser(north, 'eve@example.org', 'admin');
      const { code } = await offer(north, { kind: 'user', id });
      await act(id);
      await isOver(code, 'withdrawn');
    });

    test('when the key that made it is revoked, in the same moment too', async () => {
      const auth = new CredentialsService({ storage, clock, log: silentLog });
      const { key } = await auth.createApiKey({ teamId: north, name: 'billing', createdBy: null });
      const { code, invitation } = await offer(north, { kind: 'api_key', id: key.id });
      const late = new InvitationsService({ storage: interrupted(() => auth.revokeApiKey(north, key.id)), clock });
      await expect(late.accept(invitation, byPassword(''))).rejects.toMatchObject({ code: 'conflict' });
      await isOver(code, 'void');
      await auth.stop();
    });
  });

  test('of many who use one code at once, one joins', async () => {
    const { invitation } = await offer(north);
    const answers = await Promise.allSettled(
      Array.from({ length: 4 }, (_, index) => invitations.accept(invitation, byPassword('', `known to number ${index}`))),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await teams.listMembers(north)).toHaveLength(1);
  });

  test('an account that was created meanwhile is not taken over', async () => {
    const { invitation } = await offer(south);
    const late = new InvitationsService({ storage: interrupted(() => addUser(north)), clock });
    await expect(late.accept(invitation, byPassword(''))).rejects.toMatchObject({ code: 'conflict' });
    expect(await teams.checkPassword(ADA, 'correct horse')).toMatchObject({ matches: true });
    expect(await teams.listMembers(south)).toEqual([]);
  });

  test('a password that changes during its check proves nothing', async () => {
    const id = await addUser(north);
    const { invitation } = await offer(south);
    const late = new InvitationsService({ storage: interrupted(() => teams.setPassword(id, 'horse correct')), clock });
    await expect(late.accept(invitation, byPassword('correct horse'))).rejects.toMatchObject({ code: 'conflict' });
    expect(await teamsOf(id)).toEqual([north]);
  });

  test('a person with the old password cannot change the new one: a change that began before is refused', async () => {
    const id = await addUser(north);
    const { invitation } = await offer(south);
    const join = () => invitations.accept(invitation, byPassword('correct horse', 'known to ada only'));
    const late = new TeamsService({ storage: interrupted(join), clock });
    await expect(late.changePassword(ADA, 'correct horse', 'known to north')).rejects.toMatchObject({ code: 'conflict' });
    expect(await teams.checkPassword(ADA, 'known to ada only')).toMatchObject({ matches: true });
    expect((await teamsOf(id)).length).toBe(2);
  });

  test('old invitations are forgotten', async () => {
    await offer(north);
    clock.advance(36 * DAY_MS);
    await invitations.sweep();
    expect(await states(north)).toEqual(['expired']);
    clock.advance(2 * DAY_MS);
    await invitations.sweep();
    expect(await states(north)).toEqual([]);
  });

  describe('a password link', () => {
    test('sets the password once', async () => {
      const id = await addUser(north);
      const { code } = await links.create(north, id, OPERATOR);
      await expect(links.use(code, 'correct horse')).rejects.toMatchObject({ code: 'invalid' });
      await expect(links.use(code, 'Signalbox2031')).rejects.toMatchObject({ message: expect.stringContaining('name of this product') });
      await links.use(code, 'battery staple');
      expect(await teams.checkPassword(ADA, 'battery staple')).toMatchObject({ matches: true });
      await expect(links.use(code, 'horse correct')).rejects.toMatchObject({ code: 'conflict' });
    });

    test('is replaced by the next one and over after a day', async () => {
      const id = await addUser(north);
      const first = await links.create(north, id, OPERATOR);
      const { code } = await links.create(north, id, OPERATOR);
      expect([await links.findOpen(first.code), (await links.findOpen(code))?.email]).toEqual([undefined, ADA]);
      clock.advance(DAY_MS);
      expect(await links.findOpen(code)).toBeUndefined();
      await links.sweep();
      expect(await storage.db.selectFrom('password_links').selectAll().execute()).toEqual([]);
    });

    test('is refused for a member of another team, switched off there or not', async () => {
      const id = await addUser(north);
      await addUser(south, 'root@example.org', 'admin');
      await teams.createUser({ teamId: south, email: ADA, role: 'viewer' });
      await expect(links.create(north, id, OPERATOR)).rejects.toMatchObject({ code: 'conflict' });
      await teams.changeMember(south, id, { active: false });
      await expect(links.create(north, id, OPERATOR)).rejects.toMatchObject({ code: 'conflict' });
    });

    test('that was made before the person joined another team opens nothing after it, also in the same moment', async () => {
      const id = await addUser(north);
      const { invitation } = await offer(south);
      const { code } = await links.create(north, id, OPERATOR);
      const join = () => invitations.accept(invitation, byPassword('correct horse', 'known to ada only'));
      const late = new PasswordLinksService({ storage: interrupted(join), clock });
      await expect(late.use(code, 'known to north')).rejects.toMatchObject({ code: 'conflict' });
      expect(await links.findOpen(code)).toBeUndefined();
      expect(await teams.checkPassword(ADA, 'known to ada only')).toMatchObject({ matches: true });
    });

    /** A storage that has written, but has yet to be allowed to commit. */
    const held = (): { storage: Storage; written: Promise<void>; commit: () => void } => {
      const [written, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const write: Storage['writes']['write'] = (work) =>
        storage.writes.write(async (tx) => {
          const done = await work(tx);
          written.resolve();
          await mayCommit.promise;
          return done;
        });
      return { storage: { ...storage, writes: { write } }, written: written.promise, commit: mayCommit.resolve };
    };

    test.each(['the link', 'the invitation'])('and an invitation in the same moment: the first is done, %s', async (first) => {
      const id = await addUser(north);
      const { invitation } = await offer(south);
      const { code } = await links.create(north, id, OPERATOR);
      const use = (at: Storage): Promise<unknown> => new PasswordLinksService({ storage: at, clock }).use(code, 'known to north');
      const join = (at: Storage): Promise<unknown> =>
        new InvitationsService({ storage: at, clock }).accept(invitation, byPassword('correct horse'));
      const [one, other] = first === 'the link' ? [use, join] : [join, use];
      const holding = held();
      const firstOne = one(holding.storage);
      await holding.written;
      let isOver = false;
      const second = other(storage)
        .catch((error: unknown) => error)
        .finally(() => (isOver = true));
      const waiting = sql<{
        count: number;
      }>`select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      // SQLite has one writer: there it waits for the other in any case.
      const isWaiting = async () => storage.engine === 'sqlite' || Number((await waiting.execute(storage.db)).rows[0]?.count) > 0;
      await waitUntil('the second waits, or is through', async () => isOver || (await isWaiting()));
      holding.commit();
      await firstOne;
      expect(await second).toMatchObject({ code: 'conflict' });
      expect(await teamsOf(id)).toEqual(first === 'the link' ? [north] : expect.arrayContaining([north, south]));
    });

    test('that the operator has overtaken by adding the person to another team opens nothing', async () => {
      const id = await addUser(north);
      const { code } = await links.create(north, id, OPERATOR);
      await teams.createUser({ teamId: south, email: ADA, role: 'viewer' });
      await expect(links.use(code, 'known to north')).rejects.toMatchObject({ code: 'conflict' });
    });

    test('of a former administrator opens nothing', async () => {
      await addUser(north, 'root@example.org', 'admin');
      const eve = await addUser(north, 'eve@example.org', 'admin');
      const { code } = await links.create(north, await addUser(north), { kind: 'user', id: eve });
      await teams.changeMember(north, eve, { role: 'operator' });
      expect(await links.findOpen(code)).toBeUndefined();
    });
  });
});
