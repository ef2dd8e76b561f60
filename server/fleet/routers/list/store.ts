import { sql } from 'kysely';
import type { RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely';
import { nextTurn } from '../../../platform/core/loop-turns.ts';
import type { ListPage, SortValue, Total } from '../../../platform/core/list-page.ts';
import { ofTeamByIds } from '../../../platform/storage/by-ids.ts';
import { inChunks } from '../../../platform/storage/columns.ts';
import type { Db } from '../../../platform/storage/db.ts';
import { contains, isAmong, pageOf, totalOf } from '../../../platform/storage/list-query.ts';
import type { Schema } from '../../../platform/storage/schema.ts';
import { NO_VERSION } from '../../../../routeros-text/versions.ts';
import type { RouterRecord } from '../types.ts';
import type { RouterFilter, RouterSort, VersionBound } from './types.ts';

/** Values in the words of the indexes of migration 27: another spelling of the same would not use them. */
const VALUES: Record<RouterSort, RawBuilder<unknown>> = {
  // Of no use here: orders by state are made in memory (by-state.ts).
  state_since: sql.ref('routers.created_at'),
  created_at: sql.ref('routers.created_at'),
  identity: sql.ref('routers.identity'),
  model: sql`coalesce(routers.model, '')`,
  version: sql.ref('routers.version_key'),
};

/** Where the text of `q` is looked for. */
const SEARCHED = ['identity', 'serial_number', 'software_id', 'model', 'board_name', 'software_version'].map(
  (column) => `routers.${column}`,
);

type Routers<Row> = SelectQueryBuilder<Schema, 'routers', Row>;

/** Routers that are read at once: some 15 ms on SQLite. */
const ROUTERS_AT_ONCE = 1000;

/** Read in steps with turns of the event loop between them. */
export async function selectRouterPage(db: Db, teamId: string, filter: RouterFilter, page: ListPage<RouterSort>): Promise<RouterRecord[]> {
  const found: RouterRecord[] = [];
  let { after } = page;
  for (;;) {
    const limit = Math.min(ROUTERS_AT_ONCE, page.limit - found.length);
    const step = await matching(
      db
        .selectFrom('routers')
        .selectAll('routers')
        .select(sql<SortValue>`${VALUES[page.sort]}`.as('sort_value')),
      teamId,
      filter,
    )
      .$call(pageOf({ ...page, limit, after }, VALUES[page.sort], 'routers.id'))
      .execute();
    for (const { sort_value: _value, ...router } of step) found.push(router);
    const last = step.at(-1);
    if (last === undefined || step.length < limit || found.length === page.limit) return found;
    after = { value: last.sort_value, id: last.id };
    await nextTurn();
  }
}

export async function countRouterMatches(db: Db, teamId: string, filter: RouterFilter): Promise<Total> {
  return totalOf(db, [matching(db.selectFrom('routers').select('routers.id'), teamId, filter)]);
}

/** A router, with its value in an order. */
export interface Match {
  id: string;
  value: SortValue;
}

/** One page of the routers that match, in an order that the database knows. */
export async function selectMatchPage(db: Db, teamId: string, filter: RouterFilter, page: ListPage<RouterSort>): Promise<Match[]> {
  const value = VALUES[page.sort];
  return matching(db.selectFrom('routers').select(['routers.id', sql<SortValue>`${value}`.as('value')]), teamId, filter)
    .$call(pageOf(page, value, 'routers.id'))
    .execute();
}

/** Every router that matches, with its value in an order. */
export async function selectMatches(db: Db, teamId: string, filter: RouterFilter, sort: RouterSort): Promise<Match[]> {
  return matching(db.selectFrom('routers').select(['routers.id', sql<SortValue>`${VALUES[sort]}`.as('value')]), teamId, filter).execute();
}

/** Those of some routers that match, with their values in an order. */
export async function selectMatchesAmong(
  db: Db,
  teamId: string,
  { filter, ids, sort }: { filter: RouterFilter; ids: readonly string[]; sort: RouterSort },
): Promise<Match[]> {
  const found: Match[] = [];
  for (const chunk of inChunks(ids)) {
    await nextTurn();
    const among = db.selectFrom('routers').$call(ofTeamByIds(teamId, chunk, { id: 'routers.id', team: 'routers.team_id' }));
    found.push(...(await filtered(among.select(['routers.id', sql<SortValue>`${VALUES[sort]}`.as('value')]), filter).execute()));
  }
  return found;
}

/** In no order. */
export async function selectRoutersById(db: Db, teamId: string, ids: readonly string[]): Promise<RouterRecord[]> {
  const rows: RouterRecord[] = [];
  for (const chunk of inChunks(ids)) {
    await nextTurn();
    rows.push(...(await db.selectFrom('routers').selectAll().$call(ofTeamByIds(teamId, chunk)).execute()));
  }
  return rows;
}

/** A team has some 10,000 routers, which are read in a few milliseconds: filters need no indexes of their own, only orders do. */
function matching<Row>(query: Routers<Row>, teamId: string, filter: RouterFilter): Routers<Row> {
  return filtered(query.where('routers.team_id', '=', teamId), filter);
}

/** Of rows that are one team's. */
function filtered<Row>(query: Routers<Row>, filter: RouterFilter): Routers<Row> {
  const { removed = false, search } = filter;
  let rows = query.where('routers.removed_at', removed ? 'is not' : 'is', null);
  if (removed) rows = rows.where('routers.merged_into', 'is', null);
  const conditions = [
    isAmong('routers.site_id', filter.sites),
    isAmong('routers.agent_id', filter.agents),
    isAmong('routers.model', filter.models),
    ...filter.versions.map(isWithin),
    search === undefined ? undefined : contains(SEARCHED, search),
  ];
  for (const condition of conditions) if (condition) rows = rows.where(condition);
  return rows;
}

/** Text that is no version matches no bound. `|| ''` keeps SQLite from finding rows by their version and then sorting all of them. */
function isWithin({ relation, from, below }: VersionBound): RawBuilder<SqlBool> {
  const key = sql`(${sql.ref('routers.version_key')} || '')`;
  const isVersion = sql<SqlBool>`${key} > ${NO_VERSION}`;
  switch (relation) {
    case 'in':
      return sql<SqlBool>`(${key} >= ${from} and ${key} < ${below})`;
    case 'not in':
      return sql<SqlBool>`(${isVersion} and not (${key} >= ${from} and ${key} < ${below}))`;
    case '=':
      return sql<SqlBool>`${key} = ${from}`;
    case '<':
      return sql<SqlBool>`(${isVersion} and ${key} < ${from})`;
    case '<=':
      return sql<SqlBool>`(${isVersion} and ${key} <= ${from})`;
    case '>':
      return sql<SqlBool>`${key} > ${from}`;
    case '>=':
      return sql<SqlBool>`${key} >= ${from}`;
  }
}
