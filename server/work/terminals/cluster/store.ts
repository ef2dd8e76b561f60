import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import type { DbOrTx, Tx } from '../../../platform/storage/db.ts';
import type { TerminalKey } from '../store.ts';
import type { TerminalRecord } from '../types.ts';

/** Its control plane has ended, or it was opened by one that served the database alone. */
const IS_ORPHAN = sql<SqlBool>`(terminals.node_id is null or terminals.node_id not in (select id from nodes))`;

/** Makes a control plane the home of open terminals without one: of all, or of one. Of all teams unless one is named. */
export async function claimOrphans(tx: Tx, nodeId: string, only?: TerminalKey): Promise<TerminalRecord[]> {
  let orphans = tx.updateTable('terminals').set({ node_id: nodeId }).where('ended_at', 'is', null).where(IS_ORPHAN);
  if (only) orphans = orphans.where('team_id', '=', only.teamId).where('id', '=', only.id);
  return orphans.where(counts(nodeId)).returningAll().execute();
}

/** Gives a terminal to another control plane. @returns false when it has ended, or either of the two no longer counts */
export async function moveTerminal(tx: Tx, { teamId, id }: TerminalKey, { from, to }: { from: string; to: string }): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('terminals')
    .set({ node_id: to })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('node_id', '=', from)
    .where('ended_at', 'is', null)
    .where(counts(to))
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Open terminals of all teams whose home this control plane is. */
export async function selectOpenAt(db: DbOrTx, nodeId: string): Promise<TerminalRecord[]> {
  return db.selectFrom('terminals').selectAll().where('ended_at', 'is', null).where('node_id', '=', nodeId).execute();
}

/** Whether there are any. */
export function hasOpenAt(nodeId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from terminals where ended_at is null and node_id = ${nodeId})`;
}

/** Open terminals of a team, or of an agent in it, whose home is not this control plane. */
export async function selectOpenElsewhere(
  db: DbOrTx,
  nodeId: string,
  { teamId, agentId }: { teamId: string; agentId?: string },
): Promise<TerminalRecord[]> {
  let open = db
    .selectFrom('terminals')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('ended_at', 'is', null)
    .where((eb) => eb.or([eb('node_id', 'is', null), eb('node_id', '!=', nodeId)]));
  if (agentId !== undefined) open = open.where('agent_id', '=', agentId);
  return open.execute();
}

/** The open terminal that a ticket or an agent names: neither of the two names a team. */
export async function selectOpenOne(
  db: DbOrTx,
  id: string,
  by: { routerId: string } | { agentId: string },
): Promise<TerminalRecord | undefined> {
  const open = db.selectFrom('terminals').selectAll().where('id', '=', id).where('ended_at', 'is', null);
  return ('routerId' in by ? open.where('router_id', '=', by.routerId) : open.where('agent_id', '=', by.agentId)).executeTakeFirst();
}

function counts(nodeId: string) {
  return sql<SqlBool>`exists (select 1 from nodes where nodes.id = ${nodeId})`;
}
