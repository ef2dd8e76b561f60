import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import { hasChanged, readChanged } from '../../platform/storage/changed-since.ts';
import type { ChangeMark } from '../../platform/storage/changed-since.ts';
import type { DbOrTx, Tx } from '../../platform/storage/db.ts';
import type { StateRow, ToldRouter } from './types.ts';

const IS_PRESENT = sql<SqlBool>`until is null`;

/** Whether {@link selectChangedStates} would find any. */
export const HAVE_STATES_CHANGED = hasChanged('router_state_changes', IS_PRESENT);

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

/** Present states that were stored since then, of every router. */
export function selectChangedStates(db: DbOrTx, mark: ChangeMark): Promise<{ rows: StateRow[]; mark: ChangeMark }> {
  return readChanged(
    db,
    mark,
    (isChanged) => sql<StateRow>`
      select id, team_id, router_id, state, reason, since, until from router_state_changes
      where ${IS_PRESENT} and ${isChanged('router_state_changes')} order by since, id`,
  );
}

/** Routers that are not removed, with their stored present states. */
export function selectToldRouters(db: DbOrTx, routerIds: readonly string[]): Promise<ToldRouter[]> {
  return selectTold(db, sql`routers.id in (${sql.join(routerIds)})`);
}

/** The same of agents. */
export function selectToldRoutersOf(db: DbOrTx, agentIds: readonly string[]): Promise<ToldRouter[]> {
  return selectTold(db, sql`routers.agent_id in (${sql.join(agentIds)})`);
}

async function selectTold(db: DbOrTx, condition: RawBuilder<unknown>): Promise<ToldRouter[]> {
  const { rows } = await sql<{ [Key in keyof StateRow as `state_${Key}`]: StateRow[Key] } & ToldRouter['router']>`
    select routers.id, routers.team_id, routers.identity, routers.agent_id, routers.agent_router, routers.created_at,
      router_presence.last_seen_at, last.id as state_id, last.team_id as state_team_id, last.router_id as state_router_id,
      last.state as state_state, last.reason as state_reason, last.since as state_since, last.until as state_until
    from routers
    left join router_presence on router_presence.router_id = routers.id
    left join lateral (
      select * from router_state_changes where router_id = routers.id order by since desc, id desc limit 1
    ) as last on last.until is null
    where ${condition} and routers.removed_at is null`.execute(db);
  return rows.map((row) => ({
    router: row,
    current:
      (row.state_id as string | null) === null
        ? undefined
        : {
            id: row.state_id,
            team_id: row.state_team_id,
            router_id: row.state_router_id,
            state: row.state_state,
            reason: row.state_reason,
            since: row.state_since,
            until: row.state_until,
          },
  }));
}

/** Deletes at most `limit` states that ended before then. @returns how many */
export async function deleteStates(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx.selectFrom('router_state_changes').select('id').where('until', '<', before).orderBy('until').limit(limit);
  const { numDeletedRows } = await tx.deleteFrom('router_state_changes').where('id', 'in', old).executeTakeFirst();
  return Number(numDeletedRows);
}
