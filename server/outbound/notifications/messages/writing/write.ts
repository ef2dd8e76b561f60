import type { Tx } from '../../../../platform/storage/db.ts';
import type { Revision } from '../../threads/types.ts';
import { planRows } from './rows.ts';
import type { WritingDeps } from './rows.ts';
import { deleteWithheld, insertMessages, supersede } from './store.ts';
import { writeTakeover } from './takeover.ts';

/**
 * Stores one row for each revision, person and channel, in the transaction that decided the revision: also for those who get nothing, with the
 * reason. Texts are written when a message is sent.
 */
export async function writeMessages(deps: WritingDeps, tx: Tx, teamId: string, revisions: readonly Revision[], now: number): Promise<void> {
  for (const revision of revisions) if (revision.kind === 'acknowledged') await writeTakeover(tx, teamId, revision, now);
  const told = revisions.filter(({ kind }) => kind !== 'acknowledged');
  for (const { revision, groups, rows } of await planRows(deps, tx, teamId, told, now)) {
    const { thread, withheld } = revision;
    if (withheld !== null) await deleteWithheld(tx, teamId, thread.id, groups, withheld);
    else await supersede(tx, teamId, thread, groups, now);
    await insertMessages(tx, rows);
  }
}
