import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, RawBuilder, SqlBool } from 'kysely';
import { hasChanged, readChanged } from '../../../platform/storage/changed-since.ts';
import type { ChangeMark } from '../../../platform/storage/changed-since.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { padded } from '../../../platform/storage/padded.ts';
import type { Schema } from '../../../platform/storage/schema.ts';

/** Which control plane has an agent's tunnel. */
export interface HolderRow {
  id: string;
  node_id: string | null;
  connected_at: number | null;
  disconnected_at: number | null;
  /** That control plane counts. */
  is_live: boolean;
}

/** Whether {@link selectChangedHolders} would find any. */
export const HAVE_HOLDERS_CHANGED = hasChanged('agents');

/** Of agents of all teams that have changed since then. */
export function selectChangedHolders(db: DbOrTx, mark: ChangeMark): Promise<{ rows: HolderRow[]; mark: ChangeMark }> {
  return readChanged(db, mark, (isChanged) => holders(isChanged('agents')));
}

export async function selectHolders(db: DbOrTx, agentIds: readonly string[]): Promise<HolderRow[]> {
  return (await holders(sql`agents.id in (${sql.join(padded(agentIds))})`).execute(db)).rows;
}

function holders(condition: RawBuilder<unknown>): RawBuilder<HolderRow> {
  return sql<HolderRow>`
    select agents.id, agents.node_id, agents.connected_at, agents.disconnected_at,
      exists (select 1 from nodes where nodes.id = agents.node_id) as is_live
    from agents where ${condition}`;
}

/** Those of these agents whose tunnel no other control plane has. None when this one does not count any more. */
export async function selectNotHeldElsewhere(db: DbOrTx, nodeId: string, agentIds: readonly string[]): Promise<Set<string>> {
  if (agentIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('agents')
    .select('agents.id')
    .where('agents.id', 'in', padded([...new Set(agentIds)]))
    .where((eb) => isHeldByNobodyElse(eb, nodeId))
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Those of these routers whose agents are such. */
export async function selectRoutersNotHeldElsewhere(db: DbOrTx, nodeId: string, routerIds: readonly string[]): Promise<Set<string>> {
  if (routerIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('routers')
    .innerJoin('agents', 'agents.id', 'routers.agent_id')
    .select('routers.id')
    .where('routers.id', 'in', padded([...new Set(routerIds)]))
    .where((eb) => isHeldByNobodyElse(eb, nodeId))
    .execute();
  return new Set(rows.map(({ id }) => id));
}

function isHeldByNobodyElse(eb: ExpressionBuilder<Schema, 'agents'>, nodeId: string): Expression<SqlBool> {
  const isNode = (id: Expression<string | null>): Expression<SqlBool> =>
    eb.exists(
      eb
        .selectFrom('nodes')
        .select('nodes.id')
        .where('nodes.id', '=', id as Expression<string>),
    );
  return eb.and([
    isNode(eb.val(nodeId)),
    eb.or([
      eb('agents.node_id', '=', nodeId),
      eb('agents.node_id', 'is', null),
      eb('agents.disconnected_at', 'is not', null),
      eb.not(isNode(eb.ref('agents.node_id'))),
    ]),
  ]);
}
