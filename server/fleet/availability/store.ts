import { sql } from 'kysely';
import type { Selectable, SqlBool } from 'kysely';
import { idFloor } from '../../platform/core/ids.ts';
import type { Page } from '../../platform/core/page.ts';
import { ofTeamByIds } from '../../platform/storage/by-ids.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { RouterStateChangesTable, ServerRunsTable } from '../../platform/storage/schema-history.ts';
import type { Span } from './types.ts';

export type StateRow = Pick<Selectable<RouterStateChangesTable>, 'id' | 'router_id' | 'state' | 'since' | 'until'>;
export type RunRow = Selectable<ServerRunsTable>;

/** Rows of one query: SQLite reads them in about 10 ms, in which it does nothing else. */
const CHUNK = 5000;

export interface PlacedRouter {
  id: string;
  created_at: number;
  /** Of the router itself, as it reports it. */
  time_zone: string | null;
  site_time_zone: string | null;
}

/** Routers of a team with the zones that they stand in, newest first. @param ids only these, if given */
export async function selectPlacedRouters(
  db: DbOrTx,
  teamId: string,
  ids: readonly string[] | undefined,
  page: Page,
): Promise<PlacedRouter[]> {
  let routers = db
    .selectFrom('routers')
    .leftJoin('sites', (join) => join.onRef('sites.id', '=', 'routers.site_id').onRef('sites.team_id', '=', 'routers.team_id'))
    .select(['routers.id', 'routers.created_at', 'routers.time_zone', 'sites.time_zone as site_time_zone'])
    .where('routers.merged_into', 'is', null);
  // One that was removed is shown to those who know its id.
  routers = ids
    ? routers.$call(ofTeamByIds(teamId, ids, { id: 'routers.id', team: 'routers.team_id' }))
    : routers.where('routers.team_id', '=', teamId).where('routers.removed_at', 'is', null);
  return routers.$call(newestFirst(page, 'routers.created_at', 'routers.id')).execute();
}

/** How far the time in an id may be ahead (core/id-sequence.ts). */
const ID_AHEAD_MS = 1000;

/** When control planes ran during a time, and those that began before and may have run into it. Their ids contain the times of their starts. */
export async function selectRuns(db: DbOrTx, { from, to }: Span): Promise<RunRow[]> {
  const before = await db.selectFrom('server_runs').selectAll().where('id', '<', idFloor(from)).orderBy('id', 'desc').limit(1).execute();
  // Of several that ran at the same time, others may have begun earlier and ended later.
  const into = await db
    .selectFrom('server_runs')
    .selectAll()
    .where('id', '<', idFloor(from))
    .where(sql<number>`coalesce(stopped_at, alive_at)`, '>', from)
    .execute();
  const during = db
    .selectFrom('server_runs')
    .selectAll()
    .where('id', '>=', idFloor(from))
    .where('id', '<', idFloor(to + ID_AHEAD_MS));
  return [...before, ...into.filter(({ id }) => id !== before[0]?.id), ...(await during.orderBy('id').execute())];
}

/** Of each router the state that began last before a moment. It is the one of that moment, or it had ended by then. */
export async function selectStatesBefore(db: DbOrTx, teamId: string, routerIds: readonly string[], at: number): Promise<StateRow[]> {
  const { rows } = await sql<{ id: string | null }>`
    select (select id from router_state_changes
      where team_id = ${teamId} and router_id = routers.id and since < ${at} order by since desc, id desc limit 1) as id
    from routers where (team_id || '') = ${teamId} and id in (${sql.join(routerIds)})`.execute(db);
  const ids = rows.map(({ id }) => id).filter((id) => id !== null);
  if (ids.length === 0) return [];
  return db
    .selectFrom('router_state_changes')
    .select(['id', 'router_id', 'state', 'since', 'until'])
    .$call(ofTeamByIds(teamId, ids))
    .execute();
}

/** States of one router that began during a time, in their order. */
export async function* statesDuring(db: DbOrTx, teamId: string, routerId: string, { from, to }: Span): AsyncGenerator<StateRow[]> {
  for (let last: StateRow | undefined; ;) {
    let states = db
      .selectFrom('router_state_changes')
      .select(['id', 'router_id', 'state', 'since', 'until'])
      .where('team_id', '=', teamId)
      .where('router_id', '=', routerId)
      .where('since', '<', to);
    states = last ? states.where(sql<SqlBool>`(since, id) > (${last.since}, ${last.id})`) : states.where('since', '>=', from);
    const rows = await states.orderBy('since').orderBy('id').limit(CHUNK).execute();
    yield rows;
    if (rows.length < CHUNK) return;
    last = rows.at(-1);
  }
}
