import type { DbOrTx } from '../../../platform/storage/db.ts';
import { TEST_KIND } from '../threads/new-thread.ts';
import type { ThreadRow } from '../threads/types.ts';

export { selectActorName } from '../targets/store.ts';
export { insertThreads, lockTeam, upsertItems } from '../threads/routing/store.ts';

/** When the group was tested last, after a time; null for never. */
export async function selectLastTest(db: DbOrTx, teamId: string, groupId: string, after: number): Promise<number | null> {
  const row = await db
    .selectFrom('threads')
    .select('created_at')
    .where('team_id', '=', teamId)
    .where('group_id', '=', groupId)
    .where('created_at', '>', after)
    .where('kind', '=', TEST_KIND)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.created_at ?? null;
}

/** Whether a message of the thread is still to be sent. */
export async function isPending(db: DbOrTx, { team_id: teamId, id }: Pick<ThreadRow, 'team_id' | 'id'>): Promise<boolean> {
  const row = await db
    .selectFrom('messages')
    .select('id')
    .where('team_id', '=', teamId)
    .where('thread_id', '=', id)
    .where('state', '=', 'pending')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
