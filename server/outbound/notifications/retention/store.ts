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

/** The same of groups that were deleted before a time: also those that are still open. */
export async function selectThreadsOfDeleted(db: DbOrTx, before: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('threads')
    .innerJoin('notification_groups', 'notification_groups.id', 'threads.group_id')
    .select('threads.id')
    .where('notification_groups.deleted_at', '<', before)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Deletes groups (at most `limit`) that were deleted before a time and have no thread any more. @returns how many */
export async function removeDeletedGroups(tx: DbOrTx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('notification_groups')
    .where((eb) =>
      eb(
        'id',
        'in',
        eb
          .selectFrom('notification_groups as old')
          .select('old.id')
          .where('old.deleted_at', '<', before)
          .where((e) => e.not(e.exists(e.selectFrom('threads').select('threads.id').whereRef('threads.group_id', '=', 'old.id'))))
          .limit(limit),
      ),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Deletes threads with what is in them: a storm has thousands of records and messages. Attempts go with their message, which has a handful. */
export function removeThreads(storage: Storage, ids: readonly string[], signal: AbortSignal): Promise<void> {
  const children = [
    { table: 'messages', column: 'thread_id' },
    { table: 'thread_items', column: 'thread_id' },
  ] as const;
  return removeRecords(storage, { table: 'threads', ids, children }, { signal });
}
