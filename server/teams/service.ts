import type { Clock } from '../core/clock.ts';
import { AppError, invalidField, notFound } from '../core/errors.ts';
import { newId, newSecret } from '../core/ids.ts';
import { Listeners } from '../core/listeners.ts';
import { FIRST_PAGE } from '../core/page.ts';
import type { Page } from '../core/page.ts';
import type { Role } from '../core/principal.ts';
import type { Storage } from '../storage/db.ts';
import { checkName, checkSite, NOWHERE } from './checks.ts';
import { lossOf } from './members/losses.ts';
import { deleteClientRecords, deleteMember } from './members/store.ts';
import { hashPassword, passwordMatches } from './passwords.ts';
import {
  countActiveAdmins,
  countAtSite,
  deleteSite,
  insertMember,
  insertSite,
  insertTeam,
  insertUserUnlessKnown,
  isForeignKey,
  isUnique,
  lockTeam,
  lockUser,
  noteRevocation,
  selectMember,
  selectMembers,
  selectMemberships,
  selectSite,
  selectSiteById,
  selectSites,
  selectTeam,
  selectTeams,
  selectUserByEmail,
  updateMember,
  updatePassword,
  updateSite,
} from './store.ts';
import type { Member, MemberChange, MembershipLoss, NewSite, PasswordCheck, Site, SiteChange, Team } from './types.ts';

/** 20 letters and digits carry 119 bits. */
const GENERATED_PASSWORD_LENGTH = 20;

/** Nobody's id, looked up in place of one that does not exist. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

export interface TeamsDeps {
  storage: Storage;
  clock: Clock;
}

export interface NewUser {
  teamId: string;
  email: string;
  role: Role;
  /** Generated when missing. */
  password?: string | undefined;
  /** The team's administrator asks, and is shown what is generated. */
  invited?: boolean;
}

/** Teams, the people in them and their sites. Credentials of programs are in auth/service.ts. */
export class TeamsService {
  /** For whatever a person has open in a team: connections, streams, terminals. Does not tell of other processes. */
  readonly losses = new Listeners<MembershipLoss>();
  readonly #deps: TeamsDeps;

  constructor(deps: TeamsDeps) {
    this.#deps = deps;
  }

  /** @throws AppError `invalid` for a bad name, `conflict` for a name in use */
  async createTeam(name: string): Promise<Team> {
    const team = { ...this.#newRecord(), name: checkName('name', name) };
    await insertTeam(this.#deps.storage.db, team).catch(asConflict(`a team named ${team.name} exists already`));
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
   * Makes a person a member of a team. Somebody known from another team keeps the password they have, but it must be
   * their own by then: the administrator who was shown the first one could sign in to this team with it.
   * @returns the member and a password that was generated here, which nobody can read again
   * @throws AppError `invalid` for a bad address or password, `conflict` for a member of this team or a password of another one
   */
  async createUser(user: NewUser): Promise<{ member: Member; generatedPassword: string | null }> {
    const { id, createdAt } = this.#newRecord();
    const email = checkEmail(user.email);
    const password = user.password ?? newSecret(GENERATED_PASSWORD_LENGTH);
    const passwordHash = await hashPassword(password);
    const userId = await this.#deps.storage.writes.write(async (tx) => {
      const passwordGivenBy = user.invited === true ? user.teamId : null;
      const person = await insertUserUnlessKnown(tx, { id, email, passwordHash, createdAt, passwordGivenBy });
      if (person.passwordGivenBy !== null && person.passwordGivenBy !== user.teamId) throw stillGiven(email);
      const userId = person.id;
      const added = await insertMember(tx, { teamId: user.teamId, userId, role: user.role, createdAt });
      if (!added) throw new AppError('conflict', `${email} is a member of this team already`);
      return userId;
    });
    const member = { userId, teamId: user.teamId, email, role: user.role, active: true, createdAt };
    return { member, generatedPassword: user.password === undefined && userId === id ? password : null };
  }

  /** Whose address this is, and whether the password is theirs; takes the same time for an address that nobody has. */
  async checkPassword(email: string, password: string): Promise<PasswordCheck> {
    const { db } = this.#deps.storage;
    const user = await selectUserByEmail(db, normalizeEmail(email));
    const memberships = await selectMemberships(db, user?.id ?? NOBODY);
    const matches = await passwordMatches(password, user?.passwordHash ?? null);
    return { matches, userId: user?.id ?? null, memberships: memberships.filter((member) => member.active) };
  }

  /** Since when this person has the password they have, milliseconds; 0 from the beginning, and for nobody. */
  async passwordSince(email: string): Promise<number> {
    const user = await selectUserByEmail(this.#deps.storage.db, normalizeEmail(email));
    return user?.passwordSince ?? 0;
  }

  /** Whose address this is, once somebody else has verified that it is theirs. */
  async findPerson(email: string): Promise<{ userId: string; memberships: Member[] } | undefined> {
    const user = await selectUserByEmail(this.#deps.storage.db, normalizeEmail(email));
    return user && { userId: user.id, memberships: await this.activeMemberships(user.id) };
  }

  /** The teams in which this person is active. */
  async activeMemberships(userId: string): Promise<Member[]> {
    return (await selectMemberships(this.#deps.storage.db, userId)).filter((member) => member.active);
  }

  /** @throws AppError `not_found` */
  async getMember(teamId: string, userId: string): Promise<Member> {
    const member = await selectMember(this.#deps.storage.db, teamId, userId);
    if (!member) throw notFound('member');
    return member;
  }

  /**
   * Gives a person a new password, which counts as their own; every session of theirs is over.
   * @throws AppError `invalid` for a password that is too short or too long
   */
  async setPassword(userId: string, password: string): Promise<void> {
    const hashed = await this.#hash(password);
    await this.#deps.storage.writes.write((tx) => updatePassword(tx, { ...hashed, userId, givenBy: null }));
  }

  async #hash(password: string): Promise<{ passwordHash: string; sessionsSince: number }> {
    const passwordHash = await hashPassword(password);
    // Tokens carry whole seconds: those of this very second stay good, or the next sign-in would be refused.
    return { passwordHash, sessionsSince: Math.floor(this.#deps.clock.now() / 1000) * 1000 };
  }

  /**
   * For the server's administrator, whatever teams the person is in.
   * @returns a password that was generated here, which nobody can read again
   * @throws AppError `not_found`; `invalid` for a password that is too short or too long
   */
  async replacePassword(email: string, password?: string): Promise<{ userId: string; generatedPassword: string | null }> {
    const user = await selectUserByEmail(this.#deps.storage.db, normalizeEmail(email));
    if (!user) throw notFound(`user ${email}`);
    const generated = password === undefined ? newSecret(GENERATED_PASSWORD_LENGTH) : null;
    await this.setPassword(user.id, password ?? generated!);
    return { userId: user.id, generatedPassword: generated };
  }

  /**
   * A generated password for somebody who has lost theirs.
   * @throws AppError `not_found`; `conflict` for a member of another team too, which this team must not lock out or take over
   */
  async resetPassword(teamId: string, userId: string): Promise<{ member: Member; password: string }> {
    const member = await this.getMember(teamId, userId);
    const password = newSecret(GENERATED_PASSWORD_LENGTH);
    const hashed = await this.#hash(password);
    await this.#deps.storage.writes.write(async (tx) => {
      // Another team may have invited them while the password was hashed: it would open that team too.
      await lockUser(tx, userId);
      const memberships = await selectMemberships(tx, userId);
      if (memberships.some((other) => other.teamId !== teamId)) throw memberElsewhere();
      await updatePassword(tx, { ...hashed, userId, givenBy: teamId });
    });
    return { member, password };
  }

  async listMembers(teamId: string, page: Page = FIRST_PAGE): Promise<Member[]> {
    return selectMembers(this.#deps.storage.db, teamId, page);
  }

  /**
   * Somebody who is switched off, or may do less, loses it at once: roles are read at every request.
   * @throws AppError `not_found`; `conflict` when the team would be left without an active administrator
   */
  async changeMember(teamId: string, userId: string, change: MemberChange): Promise<Member> {
    return this.#replaceMember(teamId, userId, (before) => ({ ...before, role: change.role ?? before.role, active: change.active ?? before.active }));
  }

  /**
   * The person is no member any more, and the team's notification groups forget them. The account stays, also without any team.
   * @throws AppError `not_found`; `conflict` when the team would be left without an active administrator
   */
  async removeMember(teamId: string, userId: string): Promise<Member> {
    return this.#replaceMember(teamId, userId, () => null);
  }

  /** @param change what becomes of the member; null for nothing */
  async #replaceMember(teamId: string, userId: string, change: (before: Member) => Member | null): Promise<Member> {
    const { before, after, loss } = await this.#deps.storage.writes.write(async (tx) => {
      // Two administrators who switch each other off at once must not both succeed.
      await lockTeam(tx, teamId);
      const before = await selectMember(tx, teamId, userId);
      if (!before) throw notFound('member');
      const after = change(before);
      if (isActiveAdmin(before) && !isActiveAdmin(after) && (await countActiveAdmins(tx, teamId)) <= 1) {
        throw new AppError('conflict', 'the team would have no active administrator left');
      }
      if (after) await updateMember(tx, after);
      else await deleteMember(tx, teamId, userId);
      if (!after?.active) await deleteClientRecords(tx, teamId, userId);
      const loss = lossOf(before, after);
      if (loss) await noteRevocation(tx, { teamId, kind: 'member', subjectId: userId, now: this.#deps.clock.now() });
      return { before, after, loss };
    });
    if (loss) this.losses.publish(loss);
    return after ?? before;
  }

  /** @throws AppError `invalid` for a bad field, `conflict` for a name in use in this team */
  async createSite(site: NewSite): Promise<Site> {
    const record = checkSite({ ...this.#newRecord(), ...NOWHERE, teamId: site.teamId }, site);
    await insertSite(this.#deps.storage.db, record).catch(asConflict(nameInUse(record)));
    return record;
  }

  /** @throws AppError `not_found`, `invalid` for a bad field, `conflict` for a name in use in this team */
  async changeSite(teamId: string, siteId: string, change: SiteChange): Promise<Site> {
    const site = checkSite(await this.getSite(teamId, siteId), change);
    await updateSite(this.#deps.storage.db, site).catch(asConflict(nameInUse(site)));
    return site;
  }

  /**
   * Also leaves every notification group.
   * @throws AppError `not_found`; `conflict` while routers or agents stand in it
   */
  async deleteSite(teamId: string, siteId: string): Promise<void> {
    const removed = this.#deps.storage.writes.write(async (tx) => {
      if (!(await selectSiteById(tx, teamId, siteId))) throw notFound('site');
      const { routers, agents } = await countAtSite(tx, teamId, siteId);
      if (routers + agents > 0) throw new AppError('conflict', `${routers} routers and ${agents} agents stand in this site`);
      await deleteSite(tx, teamId, siteId);
    });
    await removed.catch((error: unknown) => {
      throw isForeignKey(error) ? new AppError('conflict', 'a router or agent has just moved into this site', { cause: error }) : error;
    });
  }

  /** @throws AppError `not_found`, also for another team's site */
  async getSite(teamId: string, siteId: string): Promise<Site> {
    const site = await selectSiteById(this.#deps.storage.db, teamId, siteId);
    if (!site) throw notFound('site');
    return site;
  }

  /** @throws AppError `not_found`, also for another team's site */
  async findSite(teamId: string, idOrName: string): Promise<Site> {
    const site = await selectSite(this.#deps.storage.db, teamId, idOrName);
    if (!site) throw notFound(`site ${idOrName}`);
    return site;
  }

  async listSites(teamId: string, page: Page = FIRST_PAGE): Promise<Site[]> {
    return selectSites(this.#deps.storage.db, teamId, page);
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

/** Addresses differ by case nowhere that matters, and two accounts of one person would. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

function checkEmail(email: string): string {
  const address = normalizeEmail(email);
  if (address.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(address)) throw invalidField('email', 'is not an email address');
  return address;
}

function nameInUse(site: Site): string {
  return `a site named ${site.name} exists already`;
}

function isActiveAdmin(member: Member | null): boolean {
  return member?.active === true && member.role === 'admin';
}

function memberElsewhere(): AppError {
  return new AppError('conflict', "they are a member of another team too; only the server's administrator can do this (signalbox user password)");
}

function stillGiven(email: string): AppError {
  return new AppError(
    'conflict',
    `${email} still has the password that an administrator of another team gave them: they must change it first, or the server's administrator does (signalbox user password)`,
  );
}
