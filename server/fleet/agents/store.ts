import { storableText } from '../../platform/storage/columns.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import type { KnownSession } from './types.ts';

/** More connections than any agent makes; a hostile one must not push the counter out of the integers. */
const HIGHEST_BELIEVED = 1e12;

/**
 * Raises the agent's epoch, above the newest one the agent itself has seen: a database restored from a backup must
 * not give out epochs a second time. Undefined when there is no such agent with this credential or it was revoked.
 */
export async function raiseEpoch(
  db: DbOrTx,
  { agentId, credential, version, lastEpoch }: { agentId: string; credential: string; version: string; lastEpoch: number },
): Promise<KnownSession | undefined> {
  const seen = Math.min(lastEpoch, HIGHEST_BELIEVED);
  const row = await db
    .updateTable('agents')
    .set((eb) => ({
      epoch: eb.case().when('epoch', '<', seen).then(eb.val(seen + 1)).else(eb('epoch', '+', 1)).end(),
      version: storableText(version),
    }))
    .where('id', '=', agentId)
    .where('secret_hash', '=', credential)
    .where('revoked_at', 'is', null)
    .returning(['epoch', 'confirmed_epoch', 'journal_id'])
    .executeTakeFirst();
  return row && { epoch: row.epoch, confirmedEpoch: row.confirmed_epoch, journalId: row.journal_id };
}

/** The agent has this epoch on disk. @returns false when a newer epoch was given out meanwhile, or the agent was revoked */
export async function confirmEpoch(
  db: DbOrTx,
  session: { agentId: string; epoch: number; journalId: string; now: number },
): Promise<boolean> {
  const { agentId, epoch, journalId, now } = session;
  const row = await db
    .updateTable('agents')
    .set({ confirmed_epoch: epoch, journal_id: journalId, connected_at: now, disconnected_at: null })
    .where('id', '=', agentId)
    .where('epoch', '=', epoch)
    .where('confirmed_epoch', '<', epoch)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** The tunnel of this epoch is over; a newer one is not touched. */
export async function recordDisconnect(db: DbOrTx, session: { agentId: string; epoch: number; now: number }): Promise<void> {
  await db
    .updateTable('agents')
    .set({ disconnected_at: session.now })
    .where('id', '=', session.agentId)
    .where('epoch', '=', session.epoch)
    .where('confirmed_epoch', '=', session.epoch)
    .execute();
}
