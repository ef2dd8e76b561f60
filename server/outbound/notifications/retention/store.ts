import type { DbOrTx, Storage } from '../../../platform/storage/db.ts';
import { removeRecords } from '../../../platform/storage/removal.ts';
import { NO_MESSAGE_WAITS } from '../../../platform/storage/waiting-messages.ts';

/** Threads of all teams (at most `limit`) that were closed before a time and of which no message waits. */
export async function selectThreadsBefore(db: DbOrTx, before: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('threads')
    .select('id')
    .where('closed_at', '<', before)
    .where(NO_MESSAGE_WAITS)
    .orderBy('closed_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Deletes threads with what is in them: a storm has thousands of records and messages. Attempts go with their message, which has a handful. */
export function removeThreads(storage: Storage, ids: readonly string[], signal: AbortSignal): Promise<void> {
  const children = [
    { table: 'messages', column: 'thread_id' },
    { table: 'thread_items', column: 'thread_id' },
  ] as const;
  return removeRecords(storage, { table: 'threads', ids, children }, { signal });
}
