import type { Selectable } from 'kysely';
import type { Page } from '../../../platform/core/page.ts';
import { countUpTo } from '../../../platform/storage/count-up-to.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import type { AgentsTable } from '../../../platform/storage/schema-routers.ts';
import type { Agent } from '../types.ts';

function toAgent(row: Omit<Selectable<AgentsTable>, 'secret_hash'>): Agent {
  return {
    id: row.id,
    teamId: row.team_id,
    siteId: row.site_id,
    name: row.name,
    version: row.version,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    connectedAt: row.connected_at,
    disconnectedAt: row.disconnected_at,
    removedAt: row.removed_at,
  };
}

export interface NewAgent {
  id: string;
  teamId: string;
  siteId: string | null;
  name: string;
  secretHash: string;
  createdAt: number;
}

export async function insertAgent(db: DbOrTx, agent: NewAgent): Promise<void> {
  await db
    .insertInto('agents')
    .values({
      id: agent.id,
      team_id: agent.teamId,
      site_id: agent.siteId,
      name: agent.name,
      secret_hash: agent.secretHash,
      version: null,
      created_at: agent.createdAt,
      revoked_at: null,
      epoch: 0,
      confirmed_epoch: 0,
      journal_id: null,
      connected_at: null,
      disconnected_at: null,
    })
    .execute();
}

/** Agents that are not revoked, counted no further than `most`. */
export async function countAgents(db: DbOrTx, teamId: string, most: number): Promise<number> {
  return countUpTo(db, db.selectFrom('agents').select('id').where('team_id', '=', teamId).where('revoked_at', 'is', null), most);
}

/** By id alone: an agent's credential names no team, its record does. */
export async function selectAgentCredential(
  db: DbOrTx,
  agentId: string,
): Promise<{ teamId: string; secretHash: string; revoked: boolean } | undefined> {
  const row = await db
    .selectFrom('agents')
    .select(['team_id', 'secret_hash', 'revoked_at'])
    .where('id', '=', agentId)
    .executeTakeFirst();
  return row && { teamId: row.team_id, secretHash: row.secret_hash, revoked: row.revoked_at !== null };
}

/** Newest first, revoked ones included. @param removed those that were removed, instead of the others */
export async function selectAgents(db: DbOrTx, teamId: string, page: Page, removed: boolean): Promise<Agent[]> {
  const rows = await db
    .selectFrom('agents')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('removed_at', removed ? 'is not' : 'is', null)
    .$call(newestFirst(page))
    .execute();
  return rows.map(toAgent);
}

export async function selectAgent(db: DbOrTx, teamId: string, agentId: string): Promise<Agent | undefined> {
  const row = await db.selectFrom('agents').selectAll().where('team_id', '=', teamId).where('id', '=', agentId).executeTakeFirst();
  return row && toAgent(row);
}

/** False when the team has no such agent. */
export async function revokeAgent(db: DbOrTx, teamId: string, agentId: string, now: number): Promise<boolean> {
  const row = await db
    .updateTable('agents')
    .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(now)) }))
    .where('id', '=', agentId)
    .where('team_id', '=', teamId)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Gives the agent another credential. Sessions that began with the former one can no longer be confirmed, because the epoch rises.
 * False when the agent is revoked.
 */
export async function replaceAgentCredential(
  db: DbOrTx,
  { teamId, agentId, secretHash }: { teamId: string; agentId: string; secretHash: string },
): Promise<boolean> {
  const row = await db
    .updateTable('agents')
    .set((eb) => ({ secret_hash: secretHash, epoch: eb('epoch', '+', 1) }))
    .where('team_id', '=', teamId)
    .where('id', '=', agentId)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** False when the team has no such agent, or it is revoked. */
export async function hasLiveAgent(db: DbOrTx, teamId: string, agentId: string): Promise<boolean> {
  const agent = db.selectFrom('agents').select('id').where('team_id', '=', teamId).where('id', '=', agentId).where('revoked_at', 'is', null);
  return (await agent.executeTakeFirst()) !== undefined;
}
