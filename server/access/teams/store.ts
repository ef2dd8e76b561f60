import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { readRole, type Role } from '../../platform/core/principal.ts';
import { fromFlag, toFlag } from '../../platform/storage/columns.ts';
import { countUpTo } from '../../platform/storage/count-up-to.ts';
import type { DbOrTx, Tx } from '../../platform/storage/db.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { TeamsTable } from '../../platform/storage/schema-teams.ts';
import type { Member, Team } from './types.ts';

const SECOND_MS = 1000;

export { insertRevocation } from '../../platform/storage/revocations.ts';
export { lockTeam } from '../../platform/storage/team-lock.ts';

export { isUnique } from '../../platform/storage/storage-errors.ts';

function toTeam(row: Selectable<TeamsTable>): Team {
  return { id: row.id, name: row.name, createdAt: row.created_at };
}

export async function insertTeam(db: DbOrTx, team: Team): Promise<void> {
  await db.insertInto('teams').values({ id: team.id, name: team.name, created_at: team.createdAt }).execute();
}

export async function selectTeam(db: DbOrTx, idOrName: string): Promise<Team | undefined> {
  const row = await db
    .selectFrom('teams')
    .selectAll()
    .where((eb) => eb.or([eb('id', '=', idOrName), eb('name', '=', idOrName)]))
    .executeTakeFirst();
  return row && toTeam(row);
}

export async function selectTeams(db: DbOrTx): Promise<Team[]> {
  const rows = await db.selectFrom('teams').selectAll().orderBy('name').execute();
  return rows.map(toTeam);
}

/** False when the person is already a member of this team. */
export async function insertMember(
  db: DbOrTx,
  member: { teamId: string; userId: string; role: Role; createdAt: number },
): Promise<boolean> {
  const row = await db
    .insertInto('members')
    .values({ team_id: member.teamId, user_id: member.userId, role: member.role, active: 1, created_at: member.createdAt })
    .onConflict((conflict) => conflict.columns(['team_id', 'user_id']).doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return row !== undefined;
}

function membersWithEmail(db: DbOrTx) {
  return db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['members.team_id', 'members.user_id', 'members.role', 'members.active', 'members.created_at', 'users.email']);
}

type MemberRow = Awaited<ReturnType<ReturnType<typeof membersWithEmail>['execute']>>[number];

function toMember(row: MemberRow): Member {
  return {
    userId: row.user_id,
    teamId: row.team_id,
    email: row.email,
    role: readRole(row.role),
    active: fromFlag(row.active),
    createdAt: row.created_at,
  };
}

/** Newest first. */
export async function selectMembers(db: DbOrTx, teamId: string, page: Page): Promise<Member[]> {
  const rows = await membersWithEmail(db)
    .where('members.team_id', '=', teamId)
    .$call(newestFirst(page, 'members.created_at', 'members.user_id'))
    .execute();
  return rows.map(toMember);
}

export async function selectMember(db: DbOrTx, teamId: string, userId: string): Promise<Member | undefined> {
  const row = await membersWithEmail(db).where('members.team_id', '=', teamId).where('members.user_id', '=', userId).executeTakeFirst();
  return row && toMember(row);
}

/** Active or not. */
export async function selectMemberByEmail(db: DbOrTx, teamId: string, email: string): Promise<Member | undefined> {
  const row = await membersWithEmail(db).where('members.team_id', '=', teamId).where('users.email', '=', email).executeTakeFirst();
  return row && toMember(row);
}

export async function countActiveAdmins(db: DbOrTx, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('members')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('role', '=', 'admin')
    .where('active', '=', 1)
    .executeTakeFirstOrThrow();
  return count;
}

/** The teams of one person. Crosses teams by design, for the step after the login. */
export async function selectMemberships(db: DbOrTx, userId: string): Promise<Member[]> {
  const rows = await membersWithEmail(db)
    .where('members.user_id', '=', userId)
    .orderBy('members.created_at')
    .orderBy('members.team_id')
    .execute();
  return rows.map(toMember);
}

export async function updateMember(db: DbOrTx, member: Member): Promise<void> {
  await db
    .updateTable('members')
    .set({ role: member.role, active: toFlag(member.active) })
    .where('team_id', '=', member.teamId)
    .where('user_id', '=', member.userId)
    .execute();
}

/** Number of members, active or not, counted up to `most`. */
export async function countMembers(db: DbOrTx, teamId: string, most: number): Promise<number> {
  return countUpTo(db, db.selectFrom('members').select('user_id').where('team_id', '=', teamId), most);
}

/**
 * Invalidates the person's sessions in this team that began until now. `sessions_since` rises by at least a second, because tokens
 * carry whole seconds.
 */
export async function endSessions(tx: Tx, teamId: string, userId: string, now: number): Promise<void> {
  const since = Math.floor(now / SECOND_MS) * SECOND_MS;
  await tx
    .updateTable('members')
    .set({ sessions_since: sql<number>`case when sessions_since < ${since} then ${since} else sessions_since + ${SECOND_MS} end` })
    .where('team_id', '=', teamId)
    .where('user_id', '=', userId)
    .execute();
}

/** By team: earliest valid session time of the person, milliseconds. */
export async function selectSessionsSince(db: DbOrTx, userId: string): Promise<Map<string, number>> {
  const rows = await db.selectFrom('members').select(['team_id', 'sessions_since']).where('user_id', '=', userId).execute();
  return new Map(rows.map((row) => [row.team_id, row.sessions_since]));
}
