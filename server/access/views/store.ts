import { sql } from 'kysely';
import type { Selectable, SqlBool } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { fromJson, toJson } from '../../platform/storage/columns.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { SavedViewsTable } from '../../platform/storage/schema-views.ts';
import type { SavedView, ViewChange, ViewedList } from './types.ts';

export { lockTeam } from '../../platform/storage/team-lock.ts';
export { isUnique } from '../../platform/storage/storage-errors.ts';

/** Who sees what: the team's views and the person's own. `userId` is null for a key, which has none. */
export interface Viewer {
  teamId: string;
  userId: string | null;
}

function toView(row: Selectable<SavedViewsTable>): SavedView {
  return {
    id: row.id,
    teamId: row.team_id,
    userId: row.user_id,
    list: row.list as ViewedList,
    name: row.name,
    query: fromJson(row.query) as Record<string, string>,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function visibleTo({ userId }: Viewer) {
  return userId === null ? sql<SqlBool>`user_id is null` : sql<SqlBool>`(user_id is null or user_id = ${userId})`;
}

/** @throws a unique violation when another view of the same owner has this name */
export async function insertView(db: DbOrTx, view: SavedView): Promise<void> {
  const { id, teamId, userId, list, name, query, createdAt, updatedAt } = view;
  const row = { id, team_id: teamId, user_id: userId, list, name, query: toJson(query), created_at: createdAt, updated_at: updatedAt };
  await db.insertInto('saved_views').values(row).execute();
}

/** Newest first. */
export async function selectViews(db: DbOrTx, viewer: Viewer, list: ViewedList | undefined, page: Page): Promise<SavedView[]> {
  let query = db.selectFrom('saved_views').selectAll().where('team_id', '=', viewer.teamId).where(visibleTo(viewer));
  if (list !== undefined) query = query.where('list', '=', list);
  return (await query.$call(newestFirst(page)).execute()).map(toView);
}

export async function selectView(db: DbOrTx, viewer: Viewer, viewId: string): Promise<SavedView | undefined> {
  const query = db.selectFrom('saved_views').selectAll().where('team_id', '=', viewer.teamId).where('id', '=', viewId);
  const row = await query.where(visibleTo(viewer)).executeTakeFirst();
  return row && toView(row);
}

/** How many views an owner has: a person, or with null the team. */
export async function countViews(db: DbOrTx, teamId: string, userId: string | null): Promise<number> {
  const { count } = await db
    .selectFrom('saved_views')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('user_id', userId === null ? 'is' : '=', userId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Undefined when there is no such view any more. @throws a unique violation like {@link insertView} */
export async function updateView(
  db: DbOrTx,
  { teamId, id }: Pick<SavedView, 'teamId' | 'id'>,
  { name, query }: ViewChange,
  updatedAt: number,
): Promise<SavedView | undefined> {
  const row = await db
    .updateTable('saved_views')
    .set({ ...(name === undefined ? {} : { name }), ...(query === undefined ? {} : { query: toJson(query) }), updated_at: updatedAt })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && toView(row);
}

export async function deleteView(db: DbOrTx, { teamId, id }: Pick<SavedView, 'teamId' | 'id'>): Promise<void> {
  await db.deleteFrom('saved_views').where('team_id', '=', teamId).where('id', '=', id).execute();
}
