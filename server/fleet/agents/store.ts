import type { Selectable } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { ofTeamByIds } from '../../platform/storage/by-ids.ts';
import { storableText } from '../../platform/storage/columns.ts';
import { countUpTo } from '../../platform/storage/count-up-to.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { AgentsTable } from '../../platform/storage/schema-routers.ts';
import type { Agent, KnownEpoch } from './types.ts';

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

/** Counts agents that are not revoked, up to `most`. */
export async function countAgents(db: DbOrTx, teamId: string, most: number): Promise<number> {
  return countUpTo(db, db.selectFrom('agents').select('id').where('team_id', '=', teamId).where('revoked_at', 'is', null), most);
}

/** By id alone: an agent's credential names no team. */
export async function selectAgentCredential(
  db: DbOrTx,
  agentId: string,
): Promise<{ teamId: string; secretHash: string; revoked: boolean } | undefined> {
  const row = await db.selectFrom('agents').select(['team_id', 'secret_hash', 'revoked_at']).where('id', '=', agentId).executeTakeFirst();
  return row && { teamId: row.team_id, secretHash: row.secret_hash, revoked: row.revoked_at !== null };
}

/** Newest first, including revoked agents. @param removed true: only removed agents */
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
 * Replaces the agent's credential and raises its epoch, so that sessions opened with the former credential cannot be confirmed.
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
  const agent = db
    .selectFrom('agents')
    .select('id')
    .where('team_id', '=', teamId)
    .where('id', '=', agentId)
    .where('revoked_at', 'is', null);
  return (await agent.executeTakeFirst()) !== undefined;
}

/** More connections than any agent makes; a hostile agent must not push the counter beyond safe integers. */
const HIGHEST_BELIEVED = 1e12;

/**
 * Raises the agent's epoch above the newest one that the agent has seen: a database restored from a backup must not
 * assign an epoch twice. Undefined when the agent is unknown or revoked, or its credential differs.
 */
export async function raiseEpoch(
  db: DbOrTx,
  { agentId, credential, version, lastEpoch }: { agentId: string; credential: string; version: string; lastEpoch: number },
): Promise<KnownEpoch | undefined> {
  const seen = Math.min(lastEpoch, HIGHEST_BELIEVED);
  const row = await db
    .updateTable('agents')
    .set((eb) => ({
      epoch: eb
        .case()
        .when('epoch', '<', seen)
        .then(eb.val(seen + 1))
        .else(eb('epoch', '+', 1))
        .end(),
      version: storableText(version),
    }))
    .where('id', '=', agentId)
    .where('secret_hash', '=', credential)
    .where('revoked_at', 'is', null)
    .returning(['epoch', 'confirmed_epoch', 'journal_id'])
    .executeTakeFirst();
  return row && { epoch: row.epoch, confirmedEpoch: row.confirmed_epoch, journalId: row.journal_id };
}

/** The agent has stored this epoch on disk. @returns false when a newer epoch exists or the agent was revoked */
export async function confirmEpoch(
  db: DbOrTx,
  session: { agentId: string; epoch: number; journalId: string; now: number },
): Promise<boolean> {
  const { agentId, epoch, journalId, now } = session;
  const row = await db
    .updateTable('agents')
    .set({ confirmed_epoch: epoch, journal_id: journalId, connected_at: now, disconnected_at: null })
    .where('id', '=', agentId)
    .where('epoch', '=', epoch)
    .where('confirmed_epoch', '<', epoch)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** The tunnel of this epoch has ended. Without effect when a newer one exists. */
export async function recordDisconnect(db: DbOrTx, session: { agentId: string; epoch: number; now: number }): Promise<void> {
  await db
    .updateTable('agents')
    .set({ disconnected_at: session.now })
    .where('id', '=', session.agentId)
    .where('epoch', '=', session.epoch)
    .where('confirmed_epoch', '=', session.epoch)
    .execute();
}

/** Undefined when the team has no such agent. */
export async function selectAgentSite(db: DbOrTx, teamId: string, agentId: string): Promise<{ site_id: string | null } | undefined> {
  return db
    .selectFrom('agents')
    .select('site_id')
    .where('team_id', '=', teamId)
    .where('id', '=', agentId)
    .where('removed_at', 'is', null)
    .executeTakeFirst();
}

/** @throws a foreign key violation when the site has just been deleted */
export async function updateAgent(
  db: DbOrTx,
  teamId: string,
  agentId: string,
  change: { site_id?: string | null; name?: string },
): Promise<void> {
  await db.updateTable('agents').set(change).where('team_id', '=', teamId).where('id', '=', agentId).execute();
}

/** Removes a revoked agent from the lists. False when the team has no such agent, or it is not revoked. */
export async function markRevokedAgentRemoved(
  db: DbOrTx,
  { teamId, agentId, now }: { teamId: string; agentId: string; now: number },
): Promise<boolean> {
  const row = await db
    .updateTable('agents')
    .set((eb) => ({ removed_at: eb.fn.coalesce('removed_at', eb.val(now)) }))
    .where('team_id', '=', teamId)
    .where('id', '=', agentId)
    .where('revoked_at', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** A revoked agent must not block the deletion of its site. */
export async function clearSiteOfRevoked(tx: DbOrTx, teamId: string, siteId: string): Promise<void> {
  const revoked = tx.updateTable('agents').set({ site_id: null }).where('revoked_at', 'is not', null);
  await revoked.where('team_id', '=', teamId).where('site_id', '=', siteId).execute();
}

export async function selectAgentNames(db: DbOrTx, teamId: string, agentIds: readonly string[]): Promise<Map<string, string>> {
  if (agentIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('agents')
    .select(['id', 'name'])
    .$call(ofTeamByIds(teamId, [...new Set(agentIds)]))
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
