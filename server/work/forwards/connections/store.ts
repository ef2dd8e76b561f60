import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import { idFloor } from '../../../platform/core/ids.ts';
import type { Page } from '../../../platform/core/page.ts';
import { inChunks } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import { addCounts } from '../store.ts';
import type { ForwardKey } from '../store.ts';
import type { ConnectionSummary, ForwardConnectionRecord } from '../types.ts';

export type LoggedConnection = ConnectionSummary & { teamId: string; forwardId: string };

/** Stores finished connections; overwrites the rows stored while they were open. @param nodeId who carried them, of several control planes */
export async function insertConnections(db: DbOrTx, connections: readonly LoggedConnection[], nodeId: string | null = null): Promise<void> {
  for (const chunk of inChunks(connections)) await upsertOf(db, chunk, nodeId).execute();
}

/** Stores open connections. The row of one that has finished meanwhile stays unchanged. @param nodeId as in {@link insertConnections} */
export async function writeOpenConnections(
  db: DbOrTx,
  connections: readonly LoggedConnection[],
  nodeId: string | null = null,
): Promise<void> {
  for (const chunk of inChunks(connections)) await upsertOf(db, chunk, nodeId, 'open').execute();
}

function upsertOf(db: DbOrTx, connections: readonly LoggedConnection[], nodeId: string | null, onlyOver?: 'open') {
  const values = connections.map((connection) => ({
    id: connection.id,
    team_id: connection.teamId,
    forward_id: connection.forwardId,
    node_id: nodeId,
    source: connection.source,
    opened_at: connection.openedAt,
    closed_at: connection.closedAt,
    bytes_in: connection.bytesIn,
    bytes_out: connection.bytesOut,
    ended_by: connection.endedBy,
  }));
  return db
    .insertInto('forward_connections')
    .values(values)
    .onConflict((conflict) => {
      const update = conflict
        .column('id')
        .doUpdateSet((eb) => ({
          closed_at: eb.ref('excluded.closed_at'),
          bytes_in: eb.ref('excluded.bytes_in'),
          bytes_out: eb.ref('excluded.bytes_out'),
          ended_by: eb.ref('excluded.ended_by'),
        }));
      return onlyOver === undefined ? update : update.where('forward_connections.ended_by', '=', onlyOver);
    });
}

/**
 * Ends the rows that a killed control plane left open, and adds their counts to their forwards.
 * @param isShared others serve the database, too: their connections stay
 */
export async function closeInterruptedConnections(tx: DbOrTx, openedAfter: number, isShared = false): Promise<void> {
  const open = tx.updateTable('forward_connections').where('id', '>', idFloor(openedAfter)).where('ended_by', '=', 'open');
  const interrupted = isShared
    ? open
        .set((eb) => ({ ended_by: eb.case().when('node_id', 'is', null).then('unknown').else('node_lost').end() }))
        .where(sql<SqlBool>`not exists (select 1 from nodes where nodes.id = forward_connections.node_id)`)
    : open.set({ ended_by: 'unknown' });
  const closed = await interrupted.returning(['team_id', 'forward_id', 'bytes_in', 'bytes_out']).execute();
  for (const row of closed) {
    const counts = { refused: 0, connections: 1, bytesIn: row.bytes_in, bytesOut: row.bytes_out };
    await addCounts(tx, { teamId: row.team_id, id: row.forward_id }, counts);
  }
}

/** Finished ones, newest first. */
export async function selectConnections(db: DbOrTx, { teamId, id }: ForwardKey, page: Page): Promise<ForwardConnectionRecord[]> {
  return db
    .selectFrom('forward_connections')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('forward_id', '=', id)
    .where('ended_by', '<>', 'open')
    .$call(newestFirst(page, 'opened_at'))
    .execute();
}

/** Deletes connections of all teams, by their opening time, which is also in their ids. @returns how many were deleted */
export async function deleteConnectionsUntil(db: DbOrTx, openedBefore: number, limit: number): Promise<number> {
  const old = db
    .selectFrom('forward_connections')
    .select('id')
    .where('id', '<', idFloor(openedBefore))
    .where('opened_at', '<', openedBefore)
    .orderBy('id')
    .limit(limit);
  const { numDeletedRows } = await db.deleteFrom('forward_connections').where('id', 'in', old).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Deletes some of a forward's connections beyond the newest `keep`. @returns how many were deleted */
export async function deleteConnectionsBeyond(db: DbOrTx, { teamId, id }: ForwardKey, keep: number, limit: number): Promise<number> {
  const beyond = db
    .selectFrom('forward_connections')
    .select('id')
    .where('team_id', '=', teamId)
    .where('forward_id', '=', id)
    .orderBy('opened_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(keep);
  const { numDeletedRows } = await db.deleteFrom('forward_connections').where('id', 'in', beyond).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
