import type { Insertable } from 'kysely';
import { sql } from 'kysely';
import type { Found, ListPage } from '../../platform/core/list-page.ts';
import { readRole, ROLES } from '../../platform/core/principal.ts';
import type { Role } from '../../platform/core/principal.ts';
import type { DbOrTx, Tx } from '../../platform/storage/db.ts';
import { findPage, ofTeam } from '../../platform/storage/list-query.ts';
import type { TerminalsTable } from '../../platform/storage/schema-terminals.ts';
import type { TerminalFilter } from './list/types.ts';
import type { Ending, Opener, TerminalEnd, TerminalRecord } from './types.ts';

export { isUnique } from '../../platform/storage/storage-errors.ts';
export { isRouterThere } from '../../platform/storage/router-lock.ts';
export { lockTeam } from '../../platform/storage/team-lock.ts';

/** Names one terminal of one team in every statement. */
export interface TerminalKey {
  teamId: string;
  id: string;
}

/** @throws a unique violation when this person or key has one open on this router */
export async function insertTerminal(tx: Tx, terminal: Insertable<TerminalsTable>): Promise<TerminalRecord> {
  return tx.insertInto('terminals').values(terminal).returningAll().executeTakeFirstOrThrow();
}

export async function selectTerminal(db: DbOrTx, { teamId, id }: TerminalKey): Promise<TerminalRecord | undefined> {
  return db.selectFrom('terminals').selectAll().where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst();
}

/** The open terminal of a person or key on a router. */
export async function selectOpenOf(
  db: DbOrTx,
  { teamId, routerId, openedBy }: { teamId: string; routerId: string; openedBy: string },
): Promise<TerminalRecord | undefined> {
  return db
    .selectFrom('terminals')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('opened_by', '=', openedBy)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
}

/** Of every team: those to carry on with after a restart. */
export async function selectAllOpen(db: DbOrTx): Promise<TerminalRecord[]> {
  return db.selectFrom('terminals').selectAll().where('ended_at', 'is', null).execute();
}

/** Undefined when it has ended meanwhile. */
export async function markOpened(tx: Tx, { teamId, id }: TerminalKey, now: number): Promise<TerminalRecord | undefined> {
  return tx
    .updateTable('terminals')
    .set({ opened_at: now })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Undefined when it had ended before, or when this is not its home. @param home the only control plane that may end it */
export async function markEnded(
  tx: Tx,
  { teamId, id }: TerminalKey,
  now: number,
  { reason, message, by }: Ending,
  home?: string,
): Promise<TerminalRecord | undefined> {
  const open = tx
    .updateTable('terminals')
    .set({ ended_at: now, end_reason: reason, end_message: message, ended_by: by?.id ?? null })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('ended_at', 'is', null);
  return (home === undefined ? open : open.where('node_id', '=', home)).returningAll().executeTakeFirst();
}

/** The same for all open terminals of routers. */
export async function endAllOf(
  tx: Tx,
  { teamId, routerIds }: { teamId: string; routerIds: readonly string[] },
  now: number,
  { reason, message }: Ending,
): Promise<TerminalRecord[]> {
  return tx
    .updateTable('terminals')
    .set({ ended_at: now, end_reason: reason, end_message: message })
    .where('team_id', '=', teamId)
    .where('router_id', 'in', routerIds)
    .where('ended_at', 'is', null)
    .returningAll()
    .execute();
}

/** Whose terminals ended for want of a right: a key's or person's, those that were opened through a client, or those of an agent. */
export interface LostRight {
  teamId: string;
  kind: 'api_key' | 'member' | 'password' | 'client' | 'agent';
  subjectId: string;
  /** When the right was taken away, milliseconds. */
  createdAt: number;
}

const SUBJECT_COLUMNS = {
  api_key: 'opened_by',
  member: 'opened_by',
  password: 'opened_by',
  client: 'opened_via',
  agent: 'agent_id',
} as const satisfies Record<LostRight['kind'], string>;

/** @param longestMs longest life of a terminal: none that began earlier can have ended since */
export async function selectEndedOf(
  db: DbOrTx,
  { teamId, kind, subjectId, createdAt }: LostRight,
  longestMs: number,
): Promise<{ id: string }[]> {
  const ending: TerminalEnd = kind === 'agent' ? 'agent_revoked' : 'rights_lost';
  return (
    db
      .selectFrom('terminals')
      .select('id')
      .where('team_id', '=', teamId)
      // Twice, because the clock may have been set meanwhile.
      .where('created_at', '>=', createdAt - 2 * longestMs)
      .where(SUBJECT_COLUMNS[kind], '=', subjectId)
      .where('end_reason', '=', ending)
      .where('ended_at', '>=', createdAt)
      .orderBy('created_at')
      .execute()
  );
}

export async function findTerminals(
  db: DbOrTx,
  teamId: string,
  filter: TerminalFilter,
  page: ListPage,
  wantsTotal: boolean,
): Promise<Found<TerminalRecord>> {
  let terminals = db.selectFrom('terminals').selectAll().$call(ofTeam(teamId, filter));
  if (filter.status) terminals = terminals.where('ended_at', filter.status === 'open' ? 'is' : 'is not', null);
  if (filter.openedBy !== undefined) terminals = terminals.where('opened_by', '=', filter.openedBy);
  return findPage(db, [terminals], { page, value: sql.ref('created_at'), valueOf: (terminal) => terminal.created_at, wantsTotal });
}

/**
 * The present role of somebody who opened a terminal; undefined when the key, the membership or the sign-in is no longer valid. A client
 * has at most its own role.
 */
export async function selectRoleOf(db: DbOrTx, opener: Omit<Opener, 'source'>, now: number): Promise<Role | undefined> {
  if (opener.kind === 'api_key') return selectKeyRole(db, opener, now);
  const member = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['members.role', 'users.sessions_since', 'members.sessions_since as member_since'])
    .where('members.team_id', '=', opener.teamId)
    .where('members.user_id', '=', opener.id)
    .where('members.active', '=', 1)
    .executeTakeFirst();
  const signedInAt = opener.signedInAt ?? 0;
  if (!member || signedInAt <= Math.max(member.sessions_since, member.member_since)) return undefined;
  const role = readRole(member.role);
  if (opener.clientId === undefined) return role;
  const client = await db
    .selectFrom('clients')
    .select('role')
    .where('team_id', '=', opener.teamId)
    .where('id', '=', opener.clientId)
    .executeTakeFirst();
  return client && lesser(role, readRole(client.role));
}

async function selectKeyRole(db: DbOrTx, { teamId, id }: Omit<Opener, 'source'>, now: number): Promise<Role | undefined> {
  const key = await db
    .selectFrom('api_keys')
    .select('role')
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirst();
  return key && readRole(key.role);
}

function lesser(one: Role, other: Role): Role {
  return ROLES.indexOf(one) < ROLES.indexOf(other) ? one : other;
}
