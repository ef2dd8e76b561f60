import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { ofTeamByIds } from '../../platform/storage/by-ids.ts';
import { storableText } from '../../platform/storage/columns.ts';
import { countUpTo } from '../../platform/storage/count-up-to.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { AgentsTable } from '../../platform/storage/schema-routers.ts';
import { padded } from '../../platform/storage/padded.ts';
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

export interface AgentCredential {
  teamId: string;
  secretHash: string;
  revoked: boolean;
}

/** By ids alone: an agent's credential names no team. */
export async function selectAgentCredentials(db: DbOrTx, agentIds: readonly string[]): Promise<Map<string, AgentCredential>> {
  const rows = await db
    .selectFrom('agents')
    .select(['id', 'team_id', 'secret_hash', 'revoked_at'])
    .where('id', 'in', padded(agentIds))
    .execute();
  return new Map(rows.map((row) => [row.id, { teamId: row.team_id, secretHash: row.secret_hash, revoked: row.revoked_at !== null }]));
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

/** An agent opens a connection. */
export interface NewConnection {
  agentId: string;
  /** Hash of the secret that it has presented. */
  credential: string;
  version: string;
  lastEpoch: number;
}

/**
 * Raises the epochs of different agents above the newest one that each agent has seen: a database restored from a backup must not
 * assign an epoch twice. @returns by agent; without those that are unknown or revoked, or whose credential differs
 */
export async function raiseEpochs(db: DbOrTx, connections: readonly NewConnection[]): Promise<Map<string, KnownEpoch>> {
  const rows = padded(connections).map(({ agentId, credential, version, lastEpoch }) => {
    const seen = Math.min(lastEpoch, HIGHEST_BELIEVED);
    return sql`(cast(${agentId} as text), cast(${credential} as text), cast(${storableText(version)} as text), cast(${seen} as bigint))`;
  });
  const raised = await sql<{ id: string; epoch: number; confirmed_epoch: number; journal_id: string | null }>`
    with said (agent, credential, said_version, seen) as (values ${sql.join(rows)})
    update agents set epoch = case when epoch < seen then seen + 1 else epoch + 1 end, version = said_version
    from said where id = agent and secret_hash = credential and revoked_at is null
    returning id, epoch, confirmed_epoch, journal_id`.execute(db);
  return new Map(raised.rows.map((row) => [row.id, { epoch: row.epoch, confirmedEpoch: row.confirmed_epoch, journalId: row.journal_id }]));
}

/** The control plane that has the agent's tunnel; undefined when the tunnel or the control plane has ended. */
export async function selectHolder(db: DbOrTx, agentId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('agents')
    .select('node_id')
    .where('id', '=', agentId)
    .where('disconnected_at', 'is', null)
    .where((eb) => eb.exists(eb.selectFrom('nodes').select('nodes.id').whereRef('nodes.id', '=', 'agents.node_id')))
    .executeTakeFirst();
  return row?.node_id ?? undefined;
}

/** An agent has stored an epoch on disk. */
export interface ConfirmedEpoch {
  agentId: string;
  epoch: number;
  journalId: string;
  now: number;
}

/**
 * Different agents have stored their epochs on disk.
 * @param nodeId the control plane that has their tunnels, where several serve the database: one that does not count any more confirms nothing
 * @returns those without a newer epoch that are not revoked
 */
export async function confirmEpochs(db: DbOrTx, confirmed: readonly ConfirmedEpoch[], nodeId?: string): Promise<Set<string>> {
  const rows = padded(confirmed).map(
    ({ agentId, epoch, journalId, now }) =>
      sql`(cast(${agentId} as text), cast(${epoch} as bigint), cast(${journalId} as text), cast(${now} as bigint))`,
  );
  const agents = await sql<{ id: string }>`
    with said (agent, said_epoch, said_journal, at) as (values ${sql.join(rows)})
    update agents set confirmed_epoch = said_epoch, journal_id = said_journal, connected_at = at, disconnected_at = null
    ${nodeId === undefined ? sql`` : sql`, node_id = ${nodeId}`}
    from said where id = agent and epoch = said_epoch and confirmed_epoch < said_epoch and revoked_at is null
    ${nodeId === undefined ? sql`` : sql`and exists (select 1 from nodes where nodes.id = ${nodeId})`}
    returning id`.execute(db);
  return new Set(agents.rows.map(({ id }) => id));
}

/** The tunnel of an agent's epoch has ended. */
export interface EndedEpoch {
  agentId: string;
  epoch: number;
  now: number;
}

/** Tunnels of different agents have ended. Without effect on an agent that has a newer one. */
export async function recordDisconnects(db: DbOrTx, ended: readonly EndedEpoch[]): Promise<void> {
  const rows = padded(ended).map(
    ({ agentId, epoch, now }) => sql`(cast(${agentId} as text), cast(${epoch} as bigint), cast(${now} as bigint))`,
  );
  await sql`
    with said (agent, said_epoch, at) as (values ${sql.join(rows)})
    update agents set disconnected_at = at from said where id = agent and epoch = said_epoch and confirmed_epoch = said_epoch`.execute(db);
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
