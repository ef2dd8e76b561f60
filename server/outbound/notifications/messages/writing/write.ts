import type { Tx } from '../../../../platform/storage/db.ts';
import { withKindsOf } from '../../threads/apply.ts';
import type { Revision } from '../../threads/types.ts';
import { planRows } from './rows.ts';
import type { WritingDeps } from './rows.ts';
import { deleteWithheld, insertMessages, selectUnsentKinds, supersede } from './store.ts';
import { writeTakeover } from './takeover.ts';

/**
 * Stores one row for each revision, person and channel, in the transaction that decided the revision: also for those who get nothing, with the
 * reason. Texts are written when a message is sent.
 */
export async function writeMessages(deps: WritingDeps, tx: Tx, teamId: string, revisions: readonly Revision[], now: number): Promise<void> {
  for (const revision of revisions) if (revision.kind === 'acknowledged') await writeTakeover(tx, teamId, revision, now);
  const told = await withUnsent(
    tx,
    teamId,
    revisions.filter(({ kind }) => kind !== 'acknowledged'),
  );
  for (const { revision, groups, rows } of await planRows(deps, tx, teamId, told, now)) {
    const { thread, withheld } = revision;
    if (withheld !== null) await deleteWithheld(tx, teamId, thread.id, groups, withheld);
    else await supersede(tx, teamId, thread, groups, now);
    await insertMessages(tx, rows);
  }
}

/** What takes the place of a message that was not sent says what that one had to say, so it comes by its topics, too. */
async function withUnsent(tx: Tx, teamId: string, revisions: readonly Revision[]): Promise<Revision[]> {
  const later = revisions.filter(({ thread, withheld }) => withheld === null && thread.revision > 1);
  const ids = later.map(({ thread: { id } }) => id);
  const unsent = Map.groupBy(await selectUnsentKinds(tx, teamId, ids), ({ thread_id: id }) => id);
  return revisions.map((revision) => {
    const kinds = revision.withheld === null ? unsent.get(revision.thread.id) : undefined;
    return kinds === undefined ? revision : { ...revision, thread: withKindsOf(revision.thread, kinds) };
  });
}
