import { sql } from 'kysely';
import type { Found, ListPage } from '../../../../platform/core/list-page.ts';
import { inChunks } from '../../../../platform/storage/columns.ts';
import type { Db, DbOrTx } from '../../../../platform/storage/db.ts';
import { findPage, isAmong, ofTeam } from '../../../../platform/storage/list-query.ts';
import type { ThreadRow } from '../../threads/types.ts';
import type { ThreadFilter } from '../types.ts';

export { selectThreads } from '../../messages/view/store.ts';

export async function findThreads(
  db: Db,
  teamId: string,
  filter: ThreadFilter,
  page: ListPage,
  wantsTotal: boolean,
): Promise<Found<ThreadRow>> {
  const { state, groupId, siteId, parentId, kinds } = filter;
  let threads = db.selectFrom('threads').selectAll().$call(ofTeam(teamId, filter));
  if (state) threads = threads.where('state', '=', state === 'open' ? 'open' : 'ended');
  if (groupId !== undefined) threads = threads.where('group_id', '=', groupId);
  if (siteId !== undefined) threads = threads.where('site_id', '=', siteId);
  if (parentId !== undefined) threads = threads.where('parent_id', '=', parentId);
  const kind = isAmong('kind', kinds);
  if (kind) threads = threads.where(kind);
  return findPage(db, [threads], { page, value: sql.ref('created_at'), valueOf: (thread) => thread.created_at, wantsTotal });
}

/** Names of groups by id. */
export async function selectGroupNames(db: DbOrTx, teamId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const chunk of inChunks([...new Set(ids)]))
    for (const { id, name } of await db
      .selectFrom('notification_groups')
      .select(['id', 'name'])
      .where('team_id', '=', teamId)
      .where('id', 'in', chunk)
      .execute())
      names.set(id, name);
  return names;
}
