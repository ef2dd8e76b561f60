import { AppError } from '../../../platform/core/errors.ts';
import type { DbOrTx, Storage, Tx } from '../../../platform/storage/db.ts';
import { removeChildren } from '../../../platform/storage/removal.ts';
import type { TerminalKey } from '../store.ts';

/** What a recording has after one more part. */
export interface RecordedSoFar {
  /** Number of the part. */
  number: number;
  /** Encrypted. */
  content: string;
  chars: number;
  outputBytes: number;
  inputBytes: number;
  now: number;
  /** The control plane that records it, of several. */
  home?: string | undefined;
}

/**
 * Stores the next part with what it makes of the record, in one transaction: a restart continues exactly behind it. A part that is there
 * already was stored by a commit whose answer was lost; the recorder repeats its text, with what came since, and this replaces it.
 * @throws AppError `conflict` when another control plane records it now
 */
export async function insertPart(tx: Tx, { teamId, id }: TerminalKey, part: RecordedSoFar): Promise<void> {
  await tx
    .insertInto('terminal_recordings')
    .values({ terminal_id: id, number: part.number, team_id: teamId, content: part.content, stored_at: part.now })
    .onConflict((oc) => oc.columns(['terminal_id', 'number']).doUpdateSet({ content: part.content, stored_at: part.now }))
    .execute();
  const record = tx
    .updateTable('terminals')
    .set({ output_bytes: part.outputBytes, input_bytes: part.inputBytes, recording_chars: part.chars, recording_chunks: part.number + 1 })
    .where('team_id', '=', teamId)
    .where('id', '=', id);
  const own = part.home === undefined ? record : record.where('node_id', '=', part.home);
  const { numUpdatedRows } = await own.executeTakeFirstOrThrow();
  if (part.home !== undefined && numUpdatedRows === 0n) throw new AppError('conflict', 'another control plane records this terminal');
}

/** One part; undefined when it does not exist or was deleted. */
export async function selectPart(db: DbOrTx, { teamId, id }: TerminalKey, number: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('terminal_recordings')
    .select('content')
    .where('team_id', '=', teamId)
    .where('terminal_id', '=', id)
    .where('number', '=', number)
    .executeTakeFirst();
  return row?.content;
}

/** Length of all recordings of a team that are kept, characters. */
export async function sumRecordings(db: DbOrTx, teamId: string): Promise<number> {
  const { sum } = await db
    .selectFrom('terminals')
    .select((eb) => eb.fn.sum<number | string | null>('recording_chars').as('sum'))
    .where('team_id', '=', teamId)
    .where('recording_chunks', '>', 0)
    .where('recording_deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(sum ?? 0);
}

/** Terminals of every team (at most `limit`) that ended before this time and still have their recording. */
export async function selectOldRecordings(db: DbOrTx, before: number, limit: number): Promise<string[]> {
  const old = await db
    .selectFrom('terminals')
    .select('id')
    .where('ended_at', '<', before)
    .where('recording_chunks', '>', 0)
    .where('recording_deleted_at', 'is', null)
    .orderBy('ended_at')
    .limit(limit)
    .execute();
  return old.map(({ id }) => id);
}

/** Deletes the parts of a recording: they have up to a hundred kilobytes each. */
export function removeParts(storage: Storage, id: string, signal?: AbortSignal): Promise<void> {
  return removeChildren(storage, { table: 'terminal_recordings', column: 'terminal_id', large: true }, [id], signal);
}

/** The parts of the recording are deleted. */
export async function markDeleted(tx: Tx, id: string, now: number): Promise<void> {
  await tx.updateTable('terminals').set({ recording_deleted_at: now }).where('id', '=', id).execute();
}
