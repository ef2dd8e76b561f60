import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import type { RouterFactsMessage } from '../../../../protocol/index.ts';
import { newId } from '../../../platform/core/ids.ts';
import type { Page } from '../../../platform/core/page.ts';
import { storableText } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import { padded } from '../../../platform/storage/padded.ts';
import type { RouterRecord } from '../types.ts';
import type { ClaimOfAgent, ListedMove, MoveRecord, WaitingClaim } from './types.ts';

export { concernsAll } from '../../../platform/storage/storage-errors.ts';
export { lockTeam } from '../../../platform/storage/team-lock.ts';

/** The team's router with this hardware id in any spelling, an exact match first, and whether its agent is revoked. */
export async function selectClaimed(
  db: DbOrTx,
  teamId: string,
  hardwareId: string,
): Promise<{ router: RouterRecord; ownerRevoked: boolean } | undefined> {
  const rows = await db
    .selectFrom('routers')
    .innerJoin('agents', 'agents.id', 'routers.agent_id')
    .selectAll('routers')
    .select('agents.revoked_at as owner_revoked_at')
    .where('routers.team_id', '=', teamId)
    .where('routers.removed_at', 'is', null)
    .where(sql<SqlBool>`upper(trim(hardware_id)) = upper(trim(${hardwareId}))`)
    .execute();
  const row = rows.find(({ hardware_id: id }) => id === hardwareId) ?? rows[0];
  if (!row) return undefined;
  const { owner_revoked_at: revokedAt, ...router } = row;
  return { router, ownerRevoked: revokedAt !== null };
}

export interface Claim {
  teamId: string;
  routerId: string;
  agentId: string;
  agentEntry: string;
  facts: RouterFactsMessage;
  address: string;
  now: number;
}

export async function selectMoveOf(
  db: DbOrTx,
  { teamId, routerId, agentId }: Pick<Claim, 'teamId' | 'routerId' | 'agentId'>,
): Promise<MoveRecord | undefined> {
  return db
    .selectFrom('router_moves')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('agent_id', '=', agentId)
    .executeTakeFirst();
}

/** Inserts a claim, or updates one that waits or was refused. */
export async function storeClaim(db: DbOrTx, claim: Claim): Promise<MoveRecord> {
  const words = {
    agent_router: claim.agentEntry,
    facts: storableText(JSON.stringify(claim.facts)),
    address: claim.address,
    updated_at: claim.now,
  };
  return db
    .insertInto('router_moves')
    .values({
      id: newId(claim.now),
      team_id: claim.teamId,
      router_id: claim.routerId,
      agent_id: claim.agentId,
      state: 'pending',
      created_at: claim.now,
      ...words,
    })
    .onConflict((conflict) => conflict.columns(['router_id', 'agent_id']).doUpdateSet(words))
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function countMoves(db: DbOrTx, teamId: string, agentId: string): Promise<{ ofTeam: number; ofAgent: number }> {
  return db
    .selectFrom('router_moves')
    .select((eb) => [eb.fn.countAll<number>().as('ofTeam'), eb.fn.countAll<number>().filterWhere('agent_id', '=', agentId).as('ofAgent')])
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow();
}

/**
 * Deletes pending claims of this agent under this name, because another device answers there. Refused claims stay: otherwise
 * the agent could ask again after naming another device. @returns the deleted claims
 */
export async function withdrawClaims(
  db: DbOrTx,
  claim: { teamId: string; agentId: string; agentEntry: string; except: string },
): Promise<MoveRecord[]> {
  return db
    .deleteFrom('router_moves')
    .where('team_id', '=', claim.teamId)
    .where('agent_id', '=', claim.agentId)
    .where('agent_router', '=', claim.agentEntry)
    .where('router_id', '<>', claim.except)
    .where('state', '<>', 'refused')
    .returningAll()
    .execute();
}

/** What decides whether an open claim can be settled. */
export interface OpenClaim extends Pick<MoveRecord, 'id' | 'agent_id' | 'state' | 'updated_at'> {
  /** The agent that has the router, and its name for it. */
  router: Pick<RouterRecord, 'agent_id' | 'agent_router'>;
  ownerRevoked: boolean;
  claimerRevoked: boolean;
}

/**
 * Claims of all teams that wait for a decision, or that another process has approved, in the order of their last reports.
 * @param behind the last one of the statement before
 */
export async function selectOpenClaims(db: DbOrTx, limit: number, behind?: OpenClaim): Promise<OpenClaim[]> {
  const open = db
    .selectFrom('router_moves')
    .select(['id', 'team_id', 'router_id', 'agent_id', 'state', 'updated_at'])
    // The same text as the condition of the index `router_moves_open`.
    .where(sql<SqlBool>`state <> 'refused'`)
    .$if(behind !== undefined, (query) => query.where(sql<SqlBool>`(updated_at, id) > (${behind!.updated_at}, ${behind!.id})`))
    .orderBy('updated_at')
    .orderBy('id')
    .limit(limit);
  const rows = await db
    .selectFrom(open.as('claim'))
    .innerJoin('routers', (join) => join.onRef('routers.id', '=', 'claim.router_id').onRef('routers.team_id', '=', 'claim.team_id'))
    .innerJoin('agents as owner', 'owner.id', 'routers.agent_id')
    .innerJoin('agents as claimer', (join) =>
      join.onRef('claimer.id', '=', 'claim.agent_id').onRef('claimer.team_id', '=', 'claim.team_id'),
    )
    .select(['claim.id', 'claim.agent_id', 'claim.state', 'claim.updated_at'])
    .select(['routers.agent_id as owner_id', 'routers.agent_router as owner_router'])
    .select(['owner.revoked_at as owner_revoked_at', 'claimer.revoked_at as claimer_revoked_at'])
    .orderBy('claim.updated_at')
    .orderBy('claim.id')
    .execute();
  return rows.map(({ owner_id: ownerId, owner_router: ownerRouter, owner_revoked_at: owner, claimer_revoked_at: claimer, ...claim }) => ({
    ...claim,
    router: { agent_id: ownerId, agent_router: ownerRouter },
    ownerRevoked: owner !== null,
    claimerRevoked: claimer !== null,
  }));
}

/** Those of these claims that are still open, at least one, in the order of their last reports. */
export async function selectOpenMoves(db: DbOrTx, ids: readonly string[]): Promise<MoveRecord[]> {
  return db
    .selectFrom('router_moves')
    .selectAll()
    .where('id', 'in', padded(ids))
    .where('state', '<>', 'refused')
    .orderBy('updated_at')
    .orderBy('id')
    .execute();
}

/** Those of these agents with a claim that was not refused. */
export async function selectClaimers(db: DbOrTx, agentIds: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('router_moves')
    .select('agent_id')
    .distinct()
    .where('agent_id', 'in', padded(agentIds))
    .where('state', '<>', 'refused')
    .execute();
  return new Set(rows.map((row) => row.agent_id));
}

/** Oldest first. */
export async function selectWaiting(db: DbOrTx, teamId: string, routerId: string): Promise<WaitingClaim[]> {
  const rows = await db
    .selectFrom('router_moves')
    .innerJoin('agents', 'agents.id', 'router_moves.agent_id')
    .select(['router_moves.agent_id', 'router_moves.agent_router', 'router_moves.address', 'agents.name'])
    .where('router_moves.team_id', '=', teamId)
    .where('router_moves.router_id', '=', routerId)
    .where('router_moves.state', '=', 'pending')
    .orderBy('router_moves.id')
    .execute();
  return rows.map((row) => ({ agentId: row.agent_id, agentName: row.name, address: row.address, agentEntry: row.agent_router }));
}

export async function selectAgentName(db: DbOrTx, teamId: string, agentId: string): Promise<string> {
  const agent = await db.selectFrom('agents').select('name').where('team_id', '=', teamId).where('id', '=', agentId).executeTakeFirst();
  return agent?.name ?? '';
}

export async function setMoveState(
  db: DbOrTx,
  move: { teamId: string; id: string; state: 'approved' | 'refused'; now: number },
): Promise<MoveRecord | undefined> {
  return db
    .updateTable('router_moves')
    .set({ state: move.state, updated_at: move.now })
    .where('team_id', '=', move.teamId)
    .where('id', '=', move.id)
    .returningAll()
    .executeTakeFirst();
}

export async function deleteMove(db: DbOrTx, { team_id: teamId, id }: MoveRecord): Promise<void> {
  await db.deleteFrom('router_moves').where('team_id', '=', teamId).where('id', '=', id).execute();
}

/** The router and whether the agents of a move are revoked. */
export async function selectParties(
  db: DbOrTx,
  move: MoveRecord,
): Promise<{ router: RouterRecord; ownerRevoked: boolean; claimerRevoked: boolean } | undefined> {
  const row = await db
    .selectFrom('routers')
    .innerJoin('agents as owner', 'owner.id', 'routers.agent_id')
    .innerJoin('agents as claimer', (join) => join.on('claimer.id', '=', move.agent_id))
    .selectAll('routers')
    .select(['owner.revoked_at as owner_revoked_at', 'claimer.revoked_at as claimer_revoked_at'])
    .where('routers.team_id', '=', move.team_id)
    .where('claimer.team_id', '=', move.team_id)
    .where('routers.id', '=', move.router_id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { owner_revoked_at: owner, claimer_revoked_at: claimer, ...router } = row;
  return { router, ownerRevoked: owner !== null, claimerRevoked: claimer !== null };
}

/** Claims of one agent that wait or were refused, oldest first. */
export async function selectClaimsOfAgent(
  db: DbOrTx,
  { teamId, agentId, limit }: { teamId: string; agentId: string; limit: number },
): Promise<ClaimOfAgent[]> {
  return (
    db
      .selectFrom('router_moves')
      .innerJoin('routers', 'routers.id', 'router_moves.router_id')
      .innerJoin('agents as owner', 'owner.id', 'routers.agent_id')
      .select([
        'router_moves.agent_router',
        'router_moves.state',
        'routers.hardware_id',
        'owner.name as owner_name',
        'routers.agent_router as owner_router',
      ])
      .where('router_moves.team_id', '=', teamId)
      .where('router_moves.agent_id', '=', agentId)
      // An approved one is about to be carried out.
      .where('router_moves.state', 'in', ['pending', 'refused'])
      .orderBy('router_moves.id')
      .limit(limit)
      .execute()
  );
}

/** Newest first. */
export async function selectMoves(db: DbOrTx, teamId: string, page: Page): Promise<ListedMove[]> {
  return db
    .selectFrom('router_moves')
    .innerJoin('routers', 'routers.id', 'router_moves.router_id')
    .innerJoin('agents', 'agents.id', 'router_moves.agent_id')
    .innerJoin('agents as owner', 'owner.id', 'routers.agent_id')
    .selectAll('router_moves')
    .select(['routers.identity', 'routers.hardware_id', 'agents.name as agent_name', 'owner.id as owner_id', 'owner.name as owner_name'])
    .where('router_moves.team_id', '=', teamId)
    .$call(newestFirst(page, 'router_moves.created_at', 'router_moves.id'))
    .execute();
}
