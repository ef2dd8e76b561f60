import type { Clock } from '../core/clock.ts';
import { AppError, invalidField, notFound } from '../core/errors.ts';
import { isUuid, newId, newSecret } from '../core/ids.ts';
import type { Role } from '../core/principal.ts';
import type { Storage } from '../storage/db.ts';
import { hashPassword, passwordMatches } from './passwords.ts';
import {
  insertMember,
  insertSite,
  insertTeam,
  insertUserUnlessKnown,
  isUnique,
  selectMembers,
  selectMemberships,
  selectSite,
  selectSites,
  selectTeam,
  selectTeams,
  selectUserByEmail,
  updateMember,
} from './store.ts';
import type { Member, NewSite, Site, Team } from './types.ts';

/** Names of people's own choosing fit in one line of a list. */
const LONGEST_NAME = 100;
/** 20 letters and digits carry 119 bits. */
const GENERATED_PASSWORD_LENGTH = 20;

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
}

/** Teams, the people in them and their sites. Credentials of programs are in auth/service.ts. */
export class TeamsService {
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
   * Makes a person a member of a team. Somebody known from another team keeps the password they have.
   * @returns the member and a password that was generated here, which nobody can read again
   * @throws AppError `invalid` for a bad address or password, `conflict` for a member of this team
   */
  async createUser(user: NewUser): Promise<{ member: Member; generatedPassword: string | null }> {
    const { id, createdAt } = this.#newRecord();
    const email = checkEmail(user.email);
    const password = user.password ?? newSecret(GENERATED_PASSWORD_LENGTH);
    const passwordHash = await hashPassword(password);
    const userId = await this.#deps.storage.writes.write(async (tx) => {
      const userId = await insertUserUnlessKnown(tx, { id, email, passwordHash, createdAt });
      const added = await insertMember(tx, { teamId: user.teamId, userId, role: user.role, createdAt });
      if (!added) throw new AppError('conflict', `${email} is a member of this team already`);
      return userId;
    });
    const member = { userId, teamId: user.teamId, email, role: user.role, active: true, createdAt };
    return { member, generatedPassword: user.password === undefined && userId === id ? password : null };
  }

  /** The person with this address and password; undefined, after the same time, for anybody else. */
  async checkPassword(email: string, password: string): Promise<{ userId: string; memberships: Member[] } | undefined> {
    const { db } = this.#deps.storage;
    const user = await selectUserByEmail(db, email.trim().toLowerCase());
    const matches = await passwordMatches(password, user?.passwordHash ?? null);
    if (!matches || !user) return undefined;
    const memberships = await selectMemberships(db, user.id);
    return { userId: user.id, memberships: memberships.filter((member) => member.active) };
  }

  async listMembers(teamId: string): Promise<Member[]> {
    return selectMembers(this.#deps.storage.db, teamId);
  }

  /** @throws AppError `not_found` */
  async changeMember(teamId: string, userId: string, change: { role?: Role; active?: boolean }): Promise<void> {
    const columns = {
      ...(change.role === undefined ? {} : { role: change.role }),
      ...(change.active === undefined ? {} : { active: change.active ? (1 as const) : (0 as const) }),
    };
    if (Object.keys(columns).length === 0) return;
    if (!(await updateMember(this.#deps.storage.db, teamId, userId, columns))) throw notFound('member');
  }

  /** @throws AppError `invalid` for a bad field, `conflict` for a name in use in this team */
  async createSite(site: NewSite): Promise<Site> {
    const record: Site = {
      ...this.#newRecord(),
      teamId: site.teamId,
      name: checkName('name', site.name),
      timeZone: checkTimeZone(site.timeZone),
      latitude: checkDegrees('latitude', site.latitude, 90),
      longitude: checkDegrees('longitude', site.longitude, 180),
    };
    await insertSite(this.#deps.storage.db, record).catch(asConflict(`a site named ${record.name} exists already`));
    return record;
  }

  /** @throws AppError `not_found`, also for another team's site */
  async findSite(teamId: string, idOrName: string): Promise<Site> {
    const site = await selectSite(this.#deps.storage.db, teamId, idOrName);
    if (!site) throw notFound(`site ${idOrName}`);
    return site;
  }

  async listSites(teamId: string): Promise<Site[]> {
    return selectSites(this.#deps.storage.db, teamId);
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

function checkName(field: string, name: string): string {
  const trimmed = name.trim();
  if (trimmed.length === 0 || trimmed.length > LONGEST_NAME) throw invalidField(field, `must have 1 to ${LONGEST_NAME} characters`);
  // Teams and sites are found by id or name: a name that looks like an id could stand for somebody else's record.
  if (isUuid(trimmed.toLowerCase())) throw invalidField(field, 'must not look like an id');
  return trimmed;
}

/** Addresses differ by case nowhere that matters, and two accounts of one person would. */
function checkEmail(email: string): string {
  const address = email.trim().toLowerCase();
  if (address.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(address)) throw invalidField('email', 'is not an email address');
  return address;
}

function checkTimeZone(name: string | undefined): string | null {
  if (name === undefined) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch (cause) {
    throw new AppError('invalid', `time_zone: ${name} is not an IANA time zone`, { cause, errors: { time_zone: ['is not an IANA time zone'] } });
  }
}

function checkDegrees(field: string, value: number | undefined, limit: number): number | null {
  if (value === undefined) return null;
  if (!(Math.abs(value) <= limit)) throw invalidField(field, `must be from -${limit} to ${limit} degrees`);
  return value;
}
