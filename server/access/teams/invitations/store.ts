import { readRole, ROLES } from '../../../platform/core/principal.ts';
import type { Role } from '../../../platform/core/principal.ts';
import type { Page } from '../../../platform/core/page.ts';
import type { DbOrTx, Storage, Tx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import { selectGrantor } from '../grantors/store.ts';
import type { Grantor, KnownGrantor } from '../grantors/types.ts';
import { STORED_STATES } from './types.ts';
import type { Invitation, StoredState } from './types.ts';

export { lockTeam } from '../../../platform/storage/team-lock.ts';

interface NewRow {
  id: string;
  teamId: string;
  email: string;
  role: Role;
  inviter: Grantor;
  codeHash: string;
  createdAt: number;
  expiresAt: number;
}

export async function insertInvitation(tx: Tx, row: NewRow): Promise<void> {
  await tx
    .insertInto('invitations')
    .values({
      id: row.id,
      team_id: row.teamId,
      email: row.email,
      role: row.role,
      inviter_kind: row.inviter.kind,
      inviter_id: row.inviter.id,
      code_hash: row.codeHash,
      state: 'open',
      created_at: row.createdAt,
      expires_at: row.expiresAt,
    })
    .execute();
}

/** Deletes the invitation that another one for the same person replaces. */
export async function deleteOpenInvitation(tx: Tx, teamId: string, email: string): Promise<void> {
  await tx.deleteFrom('invitations').where('team_id', '=', teamId).where('email', '=', email).where('state', '=', 'open').execute();
}

/** Number of open invitations that have not expired. */
export async function countOpenInvitations(tx: Tx, teamId: string, now: number): Promise<number> {
  const { count } = await tx
    .selectFrom('invitations')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('state', '=', 'open')
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return count;
}

function invitationsOfTeams(db: DbOrTx) {
  return db
    .selectFrom('invitations')
    .innerJoin('teams', 'teams.id', 'invitations.team_id')
    .selectAll('invitations')
    .select('teams.name as team_name');
}

type Row = Awaited<ReturnType<ReturnType<typeof invitationsOfTeams>['execute']>>[number];

/** By the code in the link, which does not contain the team. */
export async function selectInvitationByCode(db: DbOrTx, codeHash: string, now: number): Promise<Invitation | undefined> {
  return withInviter(db, await invitationsOfTeams(db).where('code_hash', '=', codeHash).executeTakeFirst(), now);
}

/** By its id, for a browser that has presented the code before. */
export async function selectInvitationById(db: DbOrTx, id: string, now: number): Promise<Invitation | undefined> {
  return withInviter(db, await invitationsOfTeams(db).where('invitations.id', '=', id).executeTakeFirst(), now);
}

export async function selectInvitation(db: DbOrTx, teamId: string, id: string, now: number): Promise<Invitation | undefined> {
  const row = await invitationsOfTeams(db).where('invitations.team_id', '=', teamId).where('invitations.id', '=', id).executeTakeFirst();
  return withInviter(db, row, now);
}

/** Newest first. */
export async function selectInvitations(db: DbOrTx, teamId: string, page: Page, now: number): Promise<Invitation[]> {
  const rows = await invitationsOfTeams(db)
    .where('invitations.team_id', '=', teamId)
    .$call(newestFirst(page, 'invitations.created_at', 'invitations.id'))
    .execute();
  // Few people and keys of a team invite others.
  const known = new Map<string, KnownGrantor>();
  for (const row of rows) known.set(inviterKey(row), known.get(inviterKey(row)) ?? (await selectGrantor(db, teamId, inviterOf(row), now)));
  return rows.map((row) => toInvitation(row, known.get(inviterKey(row))!));
}

/** False when it was no longer open. */
export async function closeInvitation(
  tx: Tx,
  { id, teamId }: { id: string; teamId: string },
  state: Exclude<StoredState, 'open'>,
): Promise<boolean> {
  const row = await tx
    .updateTable('invitations')
    .set({ state })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('state', '=', 'open')
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Withdraws a member's open invitations for roles above `role`, the role that is left to the member; null for none. */
export async function withdrawInvitationsBeyond(
  tx: Tx,
  { teamId, userId, role }: { teamId: string; userId: string; role: Role | null },
): Promise<void> {
  const beyond = ROLES.slice(role === null ? 0 : ROLES.indexOf(role) + 1);
  if (beyond.length === 0) return;
  await tx
    .updateTable('invitations')
    .set({ state: 'withdrawn' })
    .where('team_id', '=', teamId)
    .where('inviter_kind', '=', 'user')
    .where('inviter_id', '=', userId)
    .where('state', '=', 'open')
    .where('role', 'in', beyond)
    .execute();
}

/** Removes up to `limit` invitations that would have expired before `at`. @returns the number removed */
export async function deleteOldInvitations(storage: Storage, at: number, limit: number): Promise<number> {
  const old = await storage.db.selectFrom('invitations').select('id').where('expires_at', '<', at).limit(limit).execute();
  const ids = old.map(({ id }) => id);
  if (ids.length > 0) await storage.writes.write((tx) => tx.deleteFrom('invitations').where('id', 'in', ids).execute());
  return ids.length;
}

async function withInviter(db: DbOrTx, row: Row | undefined, now: number): Promise<Invitation | undefined> {
  return row && toInvitation(row, await selectGrantor(db, row.team_id, inviterOf(row), now));
}

function inviterOf(row: Row): Grantor {
  const kind = row.inviter_kind === 'user' || row.inviter_kind === 'api_key' ? row.inviter_kind : 'operator';
  return { kind, id: row.inviter_id };
}

function inviterKey(row: Row): string {
  return `${row.inviter_kind} ${row.inviter_id}`;
}

function toInvitation(row: Row, inviter: KnownGrantor): Invitation {
  return {
    id: row.id,
    teamId: row.team_id,
    teamName: row.team_name,
    email: row.email,
    role: readRole(row.role),
    inviter,
    // An unknown state, written by a newer version, counts as withdrawn.
    stored: STORED_STATES.find((state) => state === row.state) ?? 'withdrawn',
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
