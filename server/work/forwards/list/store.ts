import { sql } from 'kysely';
import type { Found, ListPage } from '../../../platform/core/list-page.ts';
import { ofTeamByIds } from '../../../platform/storage/by-ids.ts';
import { inChunks } from '../../../platform/storage/columns.ts';
import type { Db } from '../../../platform/storage/db.ts';
import { findPage, ofTeam } from '../../../platform/storage/list-query.ts';
import type { ForwardRecord } from '../types.ts';
import type { ForwardFilter } from './types.ts';

/** Those of these that are open. */
export async function findOpenForwards(db: Db, teamId: string, ids: readonly string[]): Promise<ForwardRecord[]> {
  const rows: ForwardRecord[] = [];
  for (const some of inChunks(ids)) {
    const open = db.selectFrom('forwards').selectAll().$call(ofTeamByIds(teamId, some));
    rows.push(...(await open.where('closed_at', 'is', null).execute()));
  }
  return rows;
}

export async function findForwards(
  db: Db,
  teamId: string,
  filter: ForwardFilter,
  page: ListPage,
  wantsTotal: boolean,
): Promise<Found<ForwardRecord>> {
  let forwards = db.selectFrom('forwards').selectAll().$call(ofTeam(teamId, filter));
  if (filter.status) forwards = forwards.where('closed_at', filter.status === 'open' ? 'is' : 'is not', null);
  return findPage(db, [forwards], { page, value: sql.ref('created_at'), valueOf: (forward) => forward.created_at, wantsTotal });
}
