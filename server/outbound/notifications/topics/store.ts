import type { Selectable } from 'kysely';
import type { Page } from '../../../platform/core/page.ts';
import { fromJson, toJson } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import type { TopicsTable } from '../../../platform/storage/schema-notifications.ts';
import type { Topic } from './types.ts';

export { lockTeam } from '../../../platform/storage/team-lock.ts';

export { isUnique } from '../../../platform/storage/storage-errors.ts';

function toTopic(row: Selectable<TopicsTable>): Topic {
  return {
    id: row.id,
    teamId: row.team_id,
    name: row.name,
    events: fromJson(row.events) as string[],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** @throws a unique violation when another topic of the team has this name */
export async function insertTopic(db: DbOrTx, topic: Topic): Promise<void> {
  await db
    .insertInto('topics')
    .values({
      id: topic.id,
      team_id: topic.teamId,
      name: topic.name,
      events: toJson(topic.events),
      created_at: topic.createdAt,
      updated_at: topic.updatedAt,
    })
    .execute();
}

export async function selectTopic(db: DbOrTx, teamId: string, topicId: string): Promise<Topic | undefined> {
  const row = await db.selectFrom('topics').selectAll().where('team_id', '=', teamId).where('id', '=', topicId).executeTakeFirst();
  return row && toTopic(row);
}

/** Newest first. */
export async function selectTopics(db: DbOrTx, teamId: string, page: Page): Promise<Topic[]> {
  const rows = await db.selectFrom('topics').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
  return rows.map(toTopic);
}

export async function countTopics(db: DbOrTx, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('topics')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Undefined when the team has no such topic. @throws a unique violation like {@link insertTopic} */
export async function updateTopic(
  db: DbOrTx,
  { teamId, id }: { teamId: string; id: string },
  change: { name?: string | undefined; events?: string[] | undefined; updatedAt: number },
): Promise<Topic | undefined> {
  const row = await db
    .updateTable('topics')
    .set({
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.events === undefined ? {} : { events: toJson(change.events) }),
      updated_at: change.updatedAt,
    })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && toTopic(row);
}

/** False when the team has no such topic. */
export async function deleteTopic(db: DbOrTx, teamId: string, topicId: string): Promise<boolean> {
  const row = await db.deleteFrom('topics').where('team_id', '=', teamId).where('id', '=', topicId).returning('id').executeTakeFirst();
  return row !== undefined;
}
