import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';

/** A group of the team that follows these kinds by a topic of its own. @returns the group's id */
export async function followKinds({ db }: Storage, teamId: string, kinds: readonly string[], now = 1000): Promise<string> {
  const [groupId, topicId] = [newId(now), newId(now)];
  const times = { created_at: now, updated_at: now };
  await db
    .insertInto('topics')
    .values({ id: topicId, team_id: teamId, name: topicId, events: JSON.stringify(kinds), ...times })
    .execute();
  await db
    .insertInto('notification_groups')
    .values({ id: groupId, team_id: teamId, name: groupId, schedule_id: null, mute: 'never', ...times })
    .execute();
  await db.insertInto('group_topics').values({ team_id: teamId, group_id: groupId, topic_id: topicId, position: 0 }).execute();
  return groupId;
}
