import { fromJson } from '../../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../../platform/storage/db.ts';
import type { TopicEvents } from './choose.ts';

/** Topics of groups with what they list, by group. */
export async function selectTopicEvents(db: DbOrTx, teamId: string, groupIds: readonly string[]): Promise<Map<string, TopicEvents[]>> {
  if (groupIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('group_topics as link')
    .innerJoin('topics', (join) => join.onRef('topics.id', '=', 'link.topic_id').onRef('topics.team_id', '=', 'link.team_id'))
    .select(['link.group_id', 'topics.id', 'topics.events'])
    .where('link.team_id', '=', teamId)
    .where('link.group_id', 'in', groupIds)
    .orderBy('topics.id')
    .execute();
  const byGroup = Map.groupBy(rows, (row) => row.group_id);
  const read = (row: (typeof rows)[number]): TopicEvents => ({ id: row.id, events: fromJson(row.events) as string[] });
  return new Map([...byGroup].map(([groupId, found]) => [groupId, found.map(read)]));
}
