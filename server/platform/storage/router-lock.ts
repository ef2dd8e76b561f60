import type { Selectable } from 'kysely';
import { ofTeamByIds } from './by-ids.ts';
import { capabilities } from './capabilities.ts';
import type { DbOrTx, Storage, Tx } from './db.ts';
import { padded } from './padded.ts';
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

/**
 * Which of these routers are there and were not removed, of whatever teams; they stay until the transaction ends. Inserts that reference them
 * lock them in the same way, so this makes nobody wait who would not wait for those.
 * @param wait false: leaves out routers that are being removed, instead of waiting for the end of that
 * @returns their teams
 */
export async function holdRouters(
  tx: Tx,
  engine: Storage['engine'],
  routerIds: readonly string[],
  { wait }: { wait: boolean },
): Promise<Map<string, string>> {
  const routers = tx.selectFrom('routers').select(['id', 'team_id']).where('id', 'in', padded(routerIds)).where('removed_at', 'is', null);
  const held = wait ? routers.forKeyShare() : routers.forKeyShare().skipLocked();
  const rows = await (capabilities[engine].singleWriter ? routers : held).execute();
  return new Map(rows.map(({ id, team_id: teamId }) => [id, teamId]));
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
