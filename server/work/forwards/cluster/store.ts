import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import { inChunks } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { ForwardKey } from '../store.ts';
import type { ForwardRecord } from '../types.ts';

/** An open forward with the agent of its router, as the database has them now. */
export interface OpenForward {
  record: ForwardRecord;
  /** Whether its home counts. */
  hasHome: boolean;
  /** Empty while the router has none. */
  agentId: string;
  isAgentRevoked: boolean;
  /** Of the agent's tunnel; undefined while it has none. */
  tunnelEpoch: number | undefined;
}

const HAS_HOME = sql<SqlBool>`exists (select 1 from nodes where nodes.id = forwards.node_id)`;

const isOwnOrOrphan = (nodeId: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(forwards.node_id = ${nodeId} or forwards.node_id is null or not ${HAS_HOME})`;

function openForwards(db: DbOrTx) {
  return db
    .selectFrom('forwards')
    .innerJoin('routers', 'routers.id', 'forwards.router_id')
    .leftJoin('agents', 'agents.id', 'routers.agent_id')
    .selectAll('forwards')
    .select([
      HAS_HOME.as('has_home'),
      'routers.agent_id as agent_now',
      'agents.confirmed_epoch as agent_epoch',
      'agents.disconnected_at as agent_gone_at',
      'agents.revoked_at as agent_revoked_at',
      sql<SqlBool>`exists (select 1 from nodes where nodes.id = agents.node_id)`.as('has_tunnel_node'),
    ])
    .where('forwards.closed_at', 'is', null);
}

type Row = Awaited<ReturnType<ReturnType<typeof openForwards>['executeTakeFirstOrThrow']>>;

function read(row: Row): OpenForward {
  const { has_home, agent_now, agent_epoch, agent_gone_at, agent_revoked_at, has_tunnel_node, ...record } = row;
  const isConnected = Boolean(has_tunnel_node) && agent_gone_at === null && agent_revoked_at === null;
  return {
    record,
    hasHome: Boolean(has_home),
    agentId: agent_now,
    isAgentRevoked: agent_revoked_at !== null,
    tunnelEpoch: isConnected ? (agent_epoch ?? undefined) : undefined,
  };
}

/** Forwards of all teams that are open at this home, and those whose home is gone. */
export async function selectOwnAndOrphans(db: DbOrTx, nodeId: string): Promise<OpenForward[]> {
  const rows = await openForwards(db).where(isOwnOrOrphan(nodeId)).orderBy('forwards.created_at').execute();
  return rows.map(read);
}

/** Whether {@link selectOwnAndOrphans} would find any. */
export function hasOwnOrOrphans(nodeId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from forwards where closed_at is null and ${isOwnOrOrphan(nodeId)})`;
}

/** Those of these that are open, of all teams. */
export async function selectOpenByIds(db: DbOrTx, ids: readonly string[]): Promise<OpenForward[]> {
  const found: OpenForward[] = [];
  for (const some of inChunks(ids)) found.push(...(await openForwards(db).where('forwards.id', 'in', some).execute()).map(read));
  return found;
}

/** Open or ended; undefined when there is no such forward in the team. */
export async function selectRecord(db: DbOrTx, { teamId, id }: ForwardKey): Promise<ForwardRecord | undefined> {
  return db.selectFrom('forwards').selectAll().where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst();
}

/** Epoch of the agent's tunnel at whichever control plane. */
export async function selectTunnelEpoch(db: DbOrTx, agentId: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('agents')
    .select('confirmed_epoch')
    .where('id', '=', agentId)
    .where('disconnected_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where(sql<SqlBool>`exists (select 1 from nodes where nodes.id = agents.node_id)`)
    .executeTakeFirst();
  return row?.confirmed_epoch;
}

/**
 * Makes a control plane the home of a forward that has none.
 * @returns undefined when another one was faster, its home counts, or it has ended
 * @throws a unique violation when the new home has given the port to another forward
 */
export async function adoptForward(
  tx: DbOrTx,
  { teamId, id }: ForwardKey,
  to: { nodeId: string; entryPoint: string; port: number },
): Promise<ForwardRecord | undefined> {
  return (
    tx
      .updateTable('forwards')
      .set({ node_id: to.nodeId, entry_point: to.entryPoint, port: to.port })
      .where('team_id', '=', teamId)
      .where('id', '=', id)
      .where('closed_at', 'is', null)
      .where((eb) => eb.or([eb('node_id', 'is', null), eb.not(HAS_HOME)]))
      // Only one that counts may be a home.
      .where(sql<SqlBool>`exists (select 1 from nodes where nodes.id = ${to.nodeId})`)
      .returningAll()
      .executeTakeFirst()
  );
}
