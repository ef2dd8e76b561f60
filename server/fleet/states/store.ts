import type { DbOrTx, Tx } from '../../platform/storage/db.ts';
import type { StateRow } from './types.ts';

/** Inserts, or overwrites the columns that change during a state. */
export async function upsertStates(tx: Tx, rows: readonly StateRow[]): Promise<void> {
  await tx
    .insertInto('router_state_changes')
    .values([...rows])
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((eb) => ({
          state: eb.ref('excluded.state'),
          reason: eb.ref('excluded.reason'),
          since: eb.ref('excluded.since'),
          until: eb.ref('excluded.until'),
        })),
    )
    .execute();
}

/** Every router that is not removed, with its last report. */
export async function selectWatched(db: DbOrTx) {
  return db
    .selectFrom('routers')
    .leftJoin('router_presence', 'router_presence.router_id', 'routers.id')
    .select([
      'routers.id',
      'routers.team_id',
      'routers.identity',
      'routers.agent_id',
      'routers.agent_router',
      'routers.created_at',
      'router_presence.last_seen_at',
    ])
    .where('routers.removed_at', 'is', null)
    .execute();
}

/** The stored present states of all routers; if a router has two, the newer one comes last. */
export async function selectOpenStates(db: DbOrTx): Promise<StateRow[]> {
  return db.selectFrom('router_state_changes').selectAll().where('until', 'is', null).orderBy('since').orderBy('id').execute();
}

/** Deletes at most `limit` states that ended before then. @returns how many */
export async function deleteStates(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx.selectFrom('router_state_changes').select('id').where('until', '<', before).orderBy('until').limit(limit);
  const { numDeletedRows } = await tx.deleteFrom('router_state_changes').where('id', 'in', old).executeTakeFirst();
  return Number(numDeletedRows);
}
