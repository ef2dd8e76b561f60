import type { DbOrTx } from '../../platform/storage/db.ts';
import type { Position, SiteFacts } from './types.ts';

export async function selectSiteFacts(db: DbOrTx, teamId: string, siteId: string): Promise<SiteFacts | undefined> {
  const row = await db
    .selectFrom('sites')
    .select(['time_zone', 'latitude', 'longitude'])
    .where('team_id', '=', teamId)
    .where('id', '=', siteId)
    .executeTakeFirst();
  if (!row) return undefined;
  const { latitude, longitude } = row;
  return { timeZone: row.time_zone, position: latitude === null || longitude === null ? null : { latitude, longitude } };
}

export async function selectPosition(db: DbOrTx, routerId: string): Promise<Position | undefined> {
  return db.selectFrom('router_positions').select(['latitude', 'longitude']).where('router_id', '=', routerId).executeTakeFirst();
}

export async function upsertPosition(db: DbOrTx, routerId: string, position: Position, now: number): Promise<void> {
  const current = { ...position, reported_at: now };
  await db
    .insertInto('router_positions')
    .values({ router_id: routerId, ...current })
    .onConflict((conflict) => conflict.column('router_id').doUpdateSet(current))
    .execute();
}
