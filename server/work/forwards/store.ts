import { sql } from 'kysely';
import type { Insertable, SqlBool } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { storableText, toFlag } from '../../platform/storage/columns.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import { madeWithKey } from '../../platform/storage/idempotency-key.ts';
import type { KeyInUse } from '../../platform/storage/idempotency-key.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { ForwardsTable } from '../../platform/storage/schema-forwards.ts';
import { padded } from '../../platform/storage/padded.ts';
import type { PortUse } from './entry/ports.ts';
import type { ForwardRecord } from './types.ts';

export { isRouterThere } from '../../platform/storage/router-lock.ts';
export { lockTeam } from '../../platform/storage/team-lock.ts';

export { isUnique } from '../../platform/storage/storage-errors.ts';

/** Names one forward of one team in every statement. */
export interface ForwardKey {
  teamId: string;
  id: string;
  /** The control plane that writes by right of being its home, of several: nothing is written when it is that no more. */
  nodeId?: string | undefined;
}

/** @throws a unique violation when the port has just been given to another forward */
export async function insertForward(db: DbOrTx, forward: Insertable<ForwardsTable>): Promise<ForwardRecord> {
  return db.insertInto('forwards').values(forward).returningAll().executeTakeFirstOrThrow();
}

/** The forward that a caller's key has created on this router since a time: what a repeated POST gets after a crash. */
export async function selectForwardByKey(db: DbOrTx, key: KeyInUse & { routerId: string }): Promise<ForwardRecord | undefined> {
  return db.selectFrom('forwards').selectAll().where('router_id', '=', key.routerId).$call(madeWithKey(key)).executeTakeFirst();
}

export async function selectForward(db: DbOrTx, { teamId, id }: ForwardKey, routerId: string): Promise<ForwardRecord | undefined> {
  return db
    .selectFrom('forwards')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Newest first. */
export async function selectForwards(db: DbOrTx, teamId: string, routerId: string, page: Page): Promise<ForwardRecord[]> {
  const query = db.selectFrom('forwards').selectAll().where('team_id', '=', teamId).where('router_id', '=', routerId);
  return query.$call(newestFirst(page)).execute();
}

/** Forwards of all teams that are not closed: read once at start. */
export async function selectOpenForwards(db: DbOrTx): Promise<ForwardRecord[]> {
  return db.selectFrom('forwards').selectAll().where('closed_at', 'is', null).orderBy('created_at').execute();
}

/** Forwards of these agents' routers that ended before they expired, the last ended first: the agents may not know yet. */
export async function selectEndedEarly(
  db: DbOrTx,
  agentIds: readonly string[],
  now: number,
  limit: number,
): Promise<{ id: string; teamId: string; agentId: string }[]> {
  return (
    db
      .selectFrom('routers')
      .innerJoin('forwards', 'forwards.router_id', 'routers.id')
      .select(['forwards.id', 'routers.team_id as teamId', 'routers.agent_id as agentId'])
      .where('routers.agent_id', 'in', padded(agentIds))
      // `|| ''` keeps SQLite from reading all forwards that the team, or the router, ever had.
      .where(sql<SqlBool>`(forwards.team_id || '') = routers.team_id`)
      .where('forwards.closed_at', 'is not', null)
      .where('forwards.expires_at', '>', now)
      .orderBy('forwards.closed_at', 'desc')
      .limit(limit)
      .execute()
  );
}

export async function countOpenForwards(db: DbOrTx, teamId: string, routerId: string): Promise<{ ofTeam: number; ofRouter: number }> {
  return db
    .selectFrom('forwards')
    .select((eb) => [
      eb.fn.countAll<number>().as('ofTeam'),
      eb.fn.countAll<number>().filterWhere('router_id', '=', routerId).as('ofRouter'),
    ])
    .where('team_id', '=', teamId)
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow();
}

export interface PortUseOfNode extends PortUse {
  /** Where it was given out, of several control planes. */
  nodeId: string | null;
}

/** Ports of all teams: the range is shared. Two reads, each by an index: of one with `or`, SQLite reads all forwards that there ever were. */
export async function selectPortUses(db: DbOrTx, closedSince: number): Promise<PortUseOfNode[]> {
  const uses = db.selectFrom('forwards').select(['port', 'team_id', 'closed_at', 'node_id']);
  const open = await uses.where('closed_at', 'is', null).execute();
  const closed = await uses.where('closed_at', '>', closedSince).execute();
  return [...open, ...closed].map((row) => ({ port: row.port, teamId: row.team_id, closedAt: row.closed_at, nodeId: row.node_id }));
}

/** Whether there are teams besides this one. */
export async function hasOtherTeams(db: DbOrTx, teamId: string): Promise<boolean> {
  return (await db.selectFrom('teams').select('id').where('id', '<>', teamId).limit(1).executeTakeFirst()) !== undefined;
}

/** Another program holds the port that was chosen first. @throws a unique violation like {@link insertForward} */
export async function updatePort(db: DbOrTx, key: ForwardKey, port: number): Promise<void> {
  await updateOf(db, key).set({ port }).execute();
}

/** @returns false when there is no such forward, or the writer is not its home */
export async function updateChannelToken(db: DbOrTx, key: ForwardKey, hash: string): Promise<boolean> {
  const { numUpdatedRows } = await updateOf(db, key).set({ channel_token_hash: hash }).executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

function updateOf(db: DbOrTx, { teamId, id, nodeId }: ForwardKey) {
  const update = db.updateTable('forwards').where('team_id', '=', teamId).where('id', '=', id);
  return nodeId === undefined ? update : update.where('node_id', '=', nodeId);
}

export interface WayFound {
  way: string;
  wayReason: string;
  targetReachable: boolean | null;
  /** Null while its port is not open. */
  authorizedAt: number | null;
}

/** Whether there is a way now, and what was said of it last. */
export async function selectWay(db: DbOrTx, { teamId, id }: ForwardKey): Promise<Pick<ForwardRecord, 'way' | 'way_reason'> | undefined> {
  return db.selectFrom('forwards').select(['way', 'way_reason']).where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst();
}

/** The agent has opened the way; the first time since the port is open counts as `authorized_at`. @returns undefined when the forward is closed */
export async function markAuthorized(db: DbOrTx, key: ForwardKey, found: WayFound): Promise<ForwardRecord | undefined> {
  return updateOf(db, key)
    .set((eb) => ({
      way: found.way,
      way_reason: storableText(found.wayReason),
      target_reachable: found.targetReachable === null ? null : toFlag(found.targetReachable),
      refused: 0,
      authorized_at: found.authorizedAt === null ? null : eb.fn.coalesce('authorized_at', eb.val(found.authorizedAt)),
    }))
    .where('closed_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** The agent could not open the way, or lost it. `refused`: its rules forbid the target. */
export async function markNoWay(db: DbOrTx, key: ForwardKey, reason: string, refused = false): Promise<ForwardRecord | undefined> {
  return markClosedUp(db, key, { way_reason: storableText(reason), refused: toFlag(refused) });
}

/** The port can no longer be opened. The way is unknown until the agent is asked again. */
export async function markNoPort(db: DbOrTx, key: ForwardKey, reason: string): Promise<ForwardRecord | undefined> {
  return markClosedUp(db, key, { way_reason: reason, authorized_at: null });
}

async function markClosedUp(
  db: DbOrTx,
  key: ForwardKey,
  change: { way_reason: string; authorized_at?: null; refused?: 0 | 1 },
): Promise<ForwardRecord | undefined> {
  return updateOf(db, key)
    .set({ ...change, way: null, target_reachable: null })
    .where('closed_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Changes the end or the source of a forward. @returns undefined when it has ended */
export async function updateTerms(
  db: DbOrTx,
  { teamId, id }: ForwardKey,
  now: number,
  terms: { expires_at?: number; renewed_at?: number; allow_only_cidr?: string },
): Promise<ForwardRecord | undefined> {
  return db
    .updateTable('forwards')
    .set(terms)
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
}

/** Only for a forward that no caller has seen. */
export async function deleteForward(db: DbOrTx, { teamId, id }: ForwardKey): Promise<void> {
  await db.deleteFrom('forwards').where('team_id', '=', teamId).where('id', '=', id).execute();
}

/**
 * An expired forward keeps no end later than its closing: it may have been extended at the last moment, or the clock was set.
 * @returns undefined when it was closed already
 */
export async function closeForward(
  db: DbOrTx,
  { teamId, id }: ForwardKey,
  now: number,
  how: 'expired' | 'revoked',
): Promise<ForwardRecord | undefined> {
  return db
    .updateTable('forwards')
    .set((eb) => ({
      closed_at: now,
      ...(how === 'revoked'
        ? { revoked_at: now }
        : { expires_at: eb.case().when('expires_at', '>', now).then(now).else(eb.ref('expires_at')).end() }),
    }))
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Closes the open forwards of these routers. */
export async function closeAllForwards(db: DbOrTx, teamId: string, routerIds: readonly string[], now: number): Promise<ForwardRecord[]> {
  return db
    .updateTable('forwards')
    .set({ closed_at: now, revoked_at: now })
    .where('team_id', '=', teamId)
    .where('router_id', 'in', routerIds)
    .where('closed_at', 'is', null)
    .returningAll()
    .execute();
}

/** Counts of a forward since they were last stored. */
export interface ForwardCounts {
  refused: number;
  /** Connections that have ended. */
  connections: number;
  bytesIn: number;
  bytesOut: number;
}

export async function addCounts(db: DbOrTx, { teamId, id }: ForwardKey, counts: ForwardCounts): Promise<void> {
  await db
    .updateTable('forwards')
    .set((eb) => ({
      refused_attempts: eb('refused_attempts', '+', counts.refused),
      connection_count: eb('connection_count', '+', counts.connections),
      bytes_in: eb('bytes_in', '+', counts.bytesIn),
      bytes_out: eb('bytes_out', '+', counts.bytesOut),
    }))
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .execute();
}

/** Forwards of all teams in the order of their ids, with how many connections they have had: the sweep goes through them. */
export async function selectForwardKeys(db: DbOrTx, afterId: string, limit: number): Promise<(ForwardKey & { connectionCount: number })[]> {
  const rows = await db
    .selectFrom('forwards')
    .select(['id', 'team_id', 'connection_count'])
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ id: row.id, teamId: row.team_id, connectionCount: row.connection_count }));
}
