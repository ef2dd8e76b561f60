import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { checkName } from '../../platform/core/check-name.ts';
import { AppError, notFound } from '../../platform/core/errors.ts';
import { newId, newSecret } from '../../platform/core/ids.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import { FIRST_PAGE } from '../../platform/core/page.ts';
import type { Page } from '../../platform/core/page.ts';
import { checkQuota, QUOTAS } from '../../platform/core/quotas.ts';
import type { Storage } from '../../platform/storage/db.ts';
import {
  insertPasswordRevocations,
  insertAccount,
  lockAccount,
  selectAccount,
  selectHasAccounts,
  setEmailVerified,
  setInstallationAdmin,
  updatePassword,
} from './accounts/store.ts';
import type { Account } from './accounts/store.ts';
import { checkEmail, normalizeEmail } from './checks.ts';
import { withdrawInvitationsBeyond } from './invitations/store.ts';
import { lossOf } from './members/losses.ts';
import { deleteClientRecords, deleteMember } from './members/store.ts';
import { deletePasswordLink } from './password-links/store.ts';
import { checkNewPassword, hashOperatorsPassword, hashPassword, passwordMatches, refuseSamePassword } from './passwords.ts';
import {
  countActiveAdmins,
  countMembers,
  endSessions,
  insertMember,
  insertTeam,
  isUnique,
  lockTeam,
  insertRevocation,
  selectMember,
  selectMembers,
  selectMemberships,
  selectSessionsSince,
  selectTeam,
  selectTeams,
  updateMember,
} from './store.ts';
import type { FirstUser, Member, MemberChange, MembershipChange, MembershipLoss, NewUser, PasswordCheck, Team } from './types.ts';

// The part of this feature that the identity feature uses.
export { normalizeEmail } from './checks.ts';
export { asPasswordCaller } from './password-turns.ts';
export type { InvitationsService } from './invitations/service.ts';
export type { Invitation, Proof } from './invitations/types.ts';
export type { PasswordLinksService } from './password-links/service.ts';

/** 20 letters and digits: 119 bits. */
const GENERATED_PASSWORD_LENGTH = 20;

/** An id that no record has, looked up for unknown accounts so that the query takes the same time. */
const ABSENT_ID = '00000000-0000-0000-0000-000000000000';

export interface TeamsDeps {
  storage: Storage;
  clock: Clock;
  counters?: Counters | undefined;
}

/** Teams and their members. access/credentials has the credentials of programs. */
export class TeamsService {
  /** Tells open connections, streams and terminals that a person lost rights in a team. Covers this process only. */
  readonly losses = new Listeners<MembershipLoss>();
  /** Covers this process only. */
  readonly changes = new Listeners<MembershipChange>();
  readonly #deps: TeamsDeps;
  /** Nobody deletes the last one. */
  #hasAnyAccount = false;

  constructor(deps: TeamsDeps) {
    this.#deps = deps;
  }

  /** @throws AppError `invalid` for a bad name, `conflict` for a name in use */
  async createTeam(name: string): Promise<Team> {
    const team = { ...this.#newRecord(), name: checkName('name', name) };
    await insertTeam(this.#deps.storage.db, team).catch(asConflict(`a team named ${team.name} already exists`));
    return team;
  }

  /** @throws AppError `not_found` */
  async findTeam(idOrName: string): Promise<Team> {
    const team = await selectTeam(this.#deps.storage.db, idOrName);
    if (!team) throw notFound(`team ${idOrName}`);
    return team;
  }

  async listTeams(): Promise<Team[]> {
    return selectTeams(this.#deps.storage.db);
  }

  /**
   * Makes a person a member of a team without asking them: for the server's operator only. A person known from another team keeps
   * their password. All others join by invitation (invitations/service.ts).
   * @returns the member, and the generated password, which cannot be read again
   * @throws AppError `invalid` for a bad address or password; `conflict` for a member of this team, for an account whose
   *   password an administrator has set, and for any account that shall become an administrator of the installation
   */
  async createUser(user: NewUser): Promise<{ member: Member; generatedPassword: string | null }> {
    const { id, createdAt } = this.#newRecord();
    const email = checkEmail(user.email);
    const password = user.password ?? newSecret(GENERATED_PASSWORD_LENGTH);
    const passwordHash = await hashOperatorsPassword(password);
    const userId = await this.#deps.storage.writes.write(async (tx) => {
      await lockTeam(tx, user.teamId);
      const isNew = await insertAccount(tx, { id, email, passwordHash, createdAt });
      const account = (await selectAccount(tx, { email }))!;
      await lockAccount(tx, account.id);
      if (!isNew && account.isPasswordShared) throw passwordShared(email);
      if (user.isInstallationAdmin) {
        if (!isNew) throw new AppError('conflict', `${email} has an account already: see signalbox user installation-admin`);
        await setInstallationAdmin(tx, account.id, true);
      }
      checkQuota(this.#deps.counters, 'members_per_team', await countMembers(tx, user.teamId, QUOTAS.members_per_team.most));
      const added = await insertMember(tx, { teamId: user.teamId, userId: account.id, role: user.role, createdAt });
      if (!added) throw new AppError('conflict', `${email} is already a member of this team`);
      return account.id;
    });
    const member = { userId, teamId: user.teamId, email, role: user.role, active: true, createdAt };
    this.changes.publish({ kind: 'joined', member });
    return { member, generatedPassword: user.password === undefined && userId === id ? password : null };
  }

  /** Whether anybody could sign in. */
  async hasAnyAccount(): Promise<boolean> {
    this.#hasAnyAccount ||= await selectHasAccounts(this.#deps.storage.db);
    return this.#hasAnyAccount;
  }

  /**
   * A team and its administrator, who also administers the installation, while there is no account. A team of that name without people, from
   * the command line, is taken.
   * @throws AppError `conflict` when there is an account, or another team of that name; `invalid`
   */
  async createFirstUser({ teamName, email, password, prepareTeam }: FirstUser): Promise<Member> {
    if (await this.hasAnyAccount()) throw new AppError('conflict', 'there is an account already');
    checkNewPassword({ password, email: checkEmail(email) });
    const team = (await selectTeam(this.#deps.storage.db, checkName('team', teamName))) ?? (await this.createTeam(teamName));
    await prepareTeam(team.id);
    return (await this.createUser({ teamId: team.id, email, role: 'admin', password, isInstallationAdmin: true })).member;
  }

  async hasAccount(email: string): Promise<boolean> {
    return (await this.#account(email)) !== undefined;
  }

  /** Checks a password and finds the person of an address. Takes the same time for an unknown address. */
  async checkPassword(email: string, password: string): Promise<PasswordCheck> {
    const user = await this.#account(email);
    const memberships = await selectMemberships(this.#deps.storage.db, user?.id ?? ABSENT_ID);
    const matches = await passwordMatches(password, user?.passwordHash ?? null);
    return { matches, userId: user?.id ?? null, memberships: memberships.filter((member) => member.active) };
  }

  /** Time of the last password change, milliseconds; 0 for a first password and for an unknown address. */
  async passwordSince(email: string): Promise<number> {
    return (await this.#account(email))?.passwordSince ?? 0;
  }

  /** The person of an address that an upstream provider has verified. */
  async findPerson(email: string): Promise<{ userId: string; memberships: Member[] } | undefined> {
    const user = await this.#account(email);
    return user && { userId: user.id, memberships: await this.activeMemberships(user.id) };
  }

  /** The teams in which this person is active. */
  async activeMemberships(userId: string): Promise<Member[]> {
    return (await selectMemberships(this.#deps.storage.db, userId)).filter((member) => member.active);
  }

  /** By team: earliest valid session time of this person, milliseconds. */
  async sessionsSince(userId: string): Promise<ReadonlyMap<string, number>> {
    return selectSessionsSince(this.#deps.storage.db, userId);
  }

  /** @throws AppError `not_found` */
  async getMember(teamId: string, userId: string): Promise<Member> {
    const member = await selectMember(this.#deps.storage.db, teamId, userId);
    if (!member) throw notFound('member');
    return member;
  }

  /**
   * Changes the password of a caller who knows the current one, and ends every session of the account.
   * @param keepOpened for a routine change: forwards, jobs and campaigns of the person continue
   * @returns false when the current password is wrong
   * @throws AppError `invalid` for an unfit new password, `conflict` after a concurrent change
   */
  async changePassword(email: string, present: string, next: string, { keepOpened = false } = {}): Promise<boolean> {
    const user = await this.#account(email);
    if (!(await passwordMatches(present, user?.passwordHash ?? null)) || !user) return false;
    await refuseSamePassword(next, user.passwordHash);
    const passwordHash = await hashPassword({ password: next, email: user.email, field: 'new_password' });
    const now = this.#deps.clock.now();
    const isDone = await this.#deps.storage.writes.write(async (tx) => {
      const isChanged = await updatePassword(tx, { userId: user.id, passwordHash, insteadOf: user.passwordHash, now });
      if (isChanged && !keepOpened) await insertPasswordRevocations(tx, user.id, now);
      return isChanged;
    });
    if (!isDone) throw new AppError('conflict', 'the password has just been changed');
    return true;
  }

  /**
   * For the server's operator: sets a person's password without the old one. Ends every session of theirs and everything opened in them.
   * @throws AppError `invalid` for a password that is too short or too long
   */
  async setPassword(userId: string, password: string): Promise<void> {
    const passwordHash = await hashOperatorsPassword(password);
    const now = this.#deps.clock.now();
    await this.#deps.storage.writes.write(async (tx) => {
      if (await updatePassword(tx, { userId, passwordHash, now })) await insertPasswordRevocations(tx, userId, now);
    });
  }

  /**
   * For the server's operator, whatever teams the person is in.
   * @returns the generated password, which cannot be read again
   * @throws AppError `not_found`; `invalid` for a password that is too short or too long
   */
  async replacePassword(email: string, password?: string): Promise<{ userId: string; generatedPassword: string | null }> {
    const user = await this.#account(email);
    if (!user) throw notFound(`user ${email}`);
    const generated = password === undefined ? newSecret(GENERATED_PASSWORD_LENGTH) : null;
    await this.setPassword(user.id, password ?? generated!);
    return { userId: user.id, generatedPassword: generated };
  }

  /**
   * For the server's operator: nobody may become an administrator of the installation by the rights that a team gives. A password link that
   * was made before ends, because its holder would get the account.
   * @returns all memberships: who administers these teams may have invited the person, and so have chosen the password
   * @throws AppError `not_found`; `conflict` for an account whose password an administrator has set
   */
  async setInstallationAdmin(email: string, isAdmin: boolean): Promise<{ userId: string; hasPassword: boolean; memberships: Member[] }> {
    return this.#deps.storage.writes.write(async (tx) => {
      const found = await selectAccount(tx, { email: normalizeEmail(email) });
      if (!found) throw notFound(`user ${email}`);
      await lockAccount(tx, found.id);
      const { id: userId, isPasswordShared, passwordHash } = (await selectAccount(tx, { id: found.id }))!;
      if (isAdmin && isPasswordShared) throw passwordShared(email);
      await setInstallationAdmin(tx, userId, isAdmin);
      if (isAdmin) await deletePasswordLink(tx, userId);
      return { userId, hasPassword: passwordHash !== null, memberships: await selectMemberships(tx, userId) };
    });
  }

  /** An identity provider has verified that the person reads the address: notifications may be sent there. */
  async confirmEmail(email: string): Promise<void> {
    await setEmailVerified(this.#deps.storage.db, normalizeEmail(email), this.#deps.clock.now());
  }

  async #account(email: string): Promise<Account | undefined> {
    return selectAccount(this.#deps.storage.db, { email: normalizeEmail(email) });
  }

  async listMembers(teamId: string, page: Page = FIRST_PAGE): Promise<Member[]> {
    return selectMembers(this.#deps.storage.db, teamId, page);
  }

  /**
   * A deactivation or lower role takes effect at once: every request reads the role.
   * @throws AppError `not_found`; `conflict` when the team would have no active administrator
   */
  async changeMember(teamId: string, userId: string, change: MemberChange): Promise<Member> {
    return this.#replaceMember(teamId, userId, (before) => ({
      ...before,
      role: change.role ?? before.role,
      active: change.active ?? before.active,
    }));
  }

  /**
   * Removes the person from the team and its notification groups. The account stays, even without any team.
   * @throws AppError `not_found`; `conflict` when the team would have no active administrator
   */
  async removeMember(teamId: string, userId: string): Promise<Member> {
    return this.#replaceMember(teamId, userId, () => null);
  }

  /** @param change returns the changed member; null removes the member */
  async #replaceMember(teamId: string, userId: string, change: (before: Member) => Member | null): Promise<Member> {
    const { before, after, loss } = await this.#deps.storage.writes.write(async (tx) => {
      // Two administrators who deactivate each other at the same time must not both succeed.
      await lockTeam(tx, teamId);
      const before = await selectMember(tx, teamId, userId);
      if (!before) throw notFound('member');
      const after = change(before);
      if (isActiveAdmin(before) && !isActiveAdmin(after) && (await countActiveAdmins(tx, teamId)) <= 1) {
        throw new AppError('conflict', 'the team would have no active administrator');
      }
      if (after) await updateMember(tx, after);
      else await deleteMember(tx, teamId, userId);
      if (!after?.active) await deleteClientRecords(tx, teamId, userId);
      if (before.active && after?.active === false) await endSessions(tx, teamId, userId, this.#deps.clock.now());
      await withdrawInvitationsBeyond(tx, { teamId, userId, role: after?.active ? after.role : null });
      const loss = lossOf(before, after);
      if (loss) await insertRevocation(tx, { teamId, kind: 'member', subjectId: userId, now: this.#deps.clock.now() });
      return { before, after, loss };
    });
    if (loss) this.losses.publish(loss);
    this.changes.publish({ kind: after ? 'updated' : 'removed', member: after ?? before });
    return after ?? before;
  }

  #newRecord(): { id: string; createdAt: number } {
    const createdAt = this.#deps.clock.now();
    return { id: newId(createdAt), createdAt };
  }
}

function asConflict(message: string): (error: unknown) => never {
  return (error) => {
    throw isUnique(error) ? new AppError('conflict', message, { cause: error }) : error;
  };
}

function isActiveAdmin(member: Member | null): boolean {
  return member?.active === true && member.role === 'admin';
}

function passwordShared(email: string): AppError {
  return new AppError('conflict', `an administrator has set the password of ${email}: set another one first (signalbox user password)`);
}
