import { inChunks } from '../../../../platform/storage/columns.ts';
import type { Db, DbOrTx } from '../../../../platform/storage/db.ts';
import type { ReceiptChannel } from '../../channels/types.ts';
import type { MessageRow } from '../types.ts';

export { hasNewer, insertMessageAttempt } from '../sending/store.ts';
export { selectThreads } from '../view/store.ts';

/** Messages of all teams by what their provider calls them: a provider knows no teams. */
export async function selectByRef(db: Db, channel: ReceiptChannel, refs: readonly string[]): Promise<Map<string, MessageRow>> {
  const rows: MessageRow[] = [];
  for (const chunk of inChunks([...new Set(refs)]))
    rows.push(...(await db.selectFrom('messages').selectAll().where('channel', '=', channel).where('provider_ref', 'in', chunk).execute()));
  return new Map(rows.map((row) => [row.provider_ref!, row]));
}

/** The earliest time counts, so that callbacks may come again and in any order. @returns false when nothing changed */
export async function storeDelivered(tx: DbOrTx, { id, team_id: teamId }: MessageRow, at: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('messages')
    .set({ delivered_at: at })
    .where('id', '=', id)
    .where('team_id', '=', teamId)
    .where('state', '=', 'sent')
    .where((eb) => eb.or([eb('delivered_at', 'is', null), eb('delivered_at', '>', at)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** What was read was delivered. @returns false when nothing changed */
export async function storeRead(tx: DbOrTx, { id, team_id: teamId }: MessageRow, at: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('messages')
    .set((eb) => ({
      read_at: at,
      delivered_at: eb.case().when('delivered_at', '<=', at).then(eb.ref('delivered_at')).else(eb.val(at)).end(),
    }))
    .where('id', '=', id)
    .where('team_id', '=', teamId)
    .where('state', '=', 'sent')
    .where((eb) => eb.or([eb('read_at', 'is', null), eb('read_at', '>', at)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Only what was sent and not delivered can fail. @returns false for every other, and for one that has failed already */
export async function storeUndelivered(
  tx: DbOrTx,
  { id, team_id: teamId }: MessageRow,
  { reason, now }: { reason: string; now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('messages')
    .set({ state: 'failed', reason, settled_at: now })
    .where('id', '=', id)
    .where('team_id', '=', teamId)
    .where('state', '=', 'sent')
    .where('delivered_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
