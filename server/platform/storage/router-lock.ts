import type { Selectable } from 'kysely';
import { ofTeamByIds } from './by-ids.ts';
import { capabilities } from './capabilities.ts';
import type { DbOrTx, Storage, Tx } from './db.ts';
import type { RoutersTable } from './schema-routers.ts';

interface RouterKey {
  teamId: string;
  routerId: string;
}

/**
 * Reads and locks routers until the transaction ends; on PostgreSQL, inserts that reference one of them also wait. Locks in
 * the order of their ids, so that two transactions do not deadlock.
 */
export async function lockRouters(
  tx: Tx,
  engine: Storage['engine'],
  teamId: string,
  routerIds: readonly string[],
): Promise<Selectable<RoutersTable>[]> {
  const routers = tx.selectFrom('routers').selectAll().$call(ofTeamByIds(teamId, routerIds)).orderBy('id');
  return (capabilities[engine].singleWriter ? routers : routers.forUpdate()).execute();
}

/** Whether the team has this router, and it was not removed. Only in a write that a removal waits for, or that waits for it. */
export async function isRouterThere(db: DbOrTx, { teamId, routerId }: RouterKey): Promise<boolean> {
  const row = await db
    .selectFrom('routers')
    .select('id')
    .where('team_id', '=', teamId)
    .where('id', '=', routerId)
    .where('removed_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}
