import type { DbOrTx } from '../../platform/storage/db.ts';

/** Teams that may listen: those with a group that follows a topic. */
export async function selectListeningTeams(db: DbOrTx): Promise<string[]> {
  const rows = await db.selectFrom('group_topics').select('team_id').distinct().orderBy('team_id').execute();
  return rows.map(({ team_id: id }) => id);
}
