import { fromJson, toJson } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { Preferences } from './types.ts';

interface Owner {
  teamId: string;
  userId: string;
}

export async function selectPreferences(db: DbOrTx, { teamId, userId }: Owner): Promise<Preferences | undefined> {
  const query = db.selectFrom('preferences').select(['content', 'version']).where('team_id', '=', teamId).where('user_id', '=', userId);
  const row = await query.executeTakeFirst();
  return row && { content: fromJson(row.content) as Preferences['content'], version: row.version };
}

/**
 * Replaces them if they still have the version that the caller has seen; with undefined whatever they are. 0 is for none.
 * @returns the new version, or undefined when they have another one
 */
export async function storePreferences(
  db: DbOrTx,
  { teamId, userId }: Owner,
  { content, seen, now }: { content: Preferences['content']; seen: number | undefined; now: number },
): Promise<number | undefined> {
  const change = { content: toJson(content), updated_at: now };
  const updated = await db
    .updateTable('preferences')
    .set((eb) => ({ ...change, version: eb('version', '+', 1) }))
    .where('team_id', '=', teamId)
    .where('user_id', '=', userId)
    .$if(seen !== undefined, (query) => query.where('version', '=', seen!))
    .returning('version')
    .executeTakeFirst();
  if (updated) return updated.version;
  if (seen !== undefined && seen > 0) return undefined;
  const inserted = await db
    .insertInto('preferences')
    .values({ team_id: teamId, user_id: userId, version: 1, ...change })
    .onConflict((conflict) => conflict.columns(['team_id', 'user_id']).doNothing())
    .returning('version')
    .executeTakeFirst();
  return inserted?.version;
}
