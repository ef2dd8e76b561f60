import type { Insertable } from 'kysely';
import { inChunks } from '../../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../../platform/storage/db.ts';
import type { MessagesTable } from '../../../../platform/storage/schema-notices.ts';

export { selectLinks } from '../../groups/links/store.ts';

/** Earlier messages of a thread that nobody has begun to send: the newer one says all. */
export async function supersede(tx: DbOrTx, teamId: string, threadId: string, revision: number, now: number): Promise<void> {
  await tx
    .updateTable('messages')
    .set({ state: 'superseded', due_at: null, settled_at: now })
    .where('team_id', '=', teamId)
    .where('thread_id', '=', threadId)
    .where('state', '=', 'pending')
    .where('revision', '<', revision)
    .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
    .execute();
}

/** A decision that is repeated replaces its earlier rows: one for each thread, person and channel. */
export async function deleteWithheld(tx: DbOrTx, teamId: string, threadId: string, reason: string): Promise<void> {
  await tx
    .deleteFrom('messages')
    .where('team_id', '=', teamId)
    .where('thread_id', '=', threadId)
    .where('state', '=', 'withheld')
    .where('reason', '=', reason)
    .execute();
}

export async function insertMessages(tx: DbOrTx, messages: readonly Insertable<MessagesTable>[]): Promise<void> {
  for (const chunk of inChunks(messages)) await tx.insertInto('messages').values(chunk).execute();
}
