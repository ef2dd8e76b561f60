import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, Selectable, SqlBool } from 'kysely';
import type { DbOrTx } from '../../../../platform/storage/db.ts';
import type { Schema } from '../../../../platform/storage/schema.ts';
import type { TelegramReadersTable } from '../../../../platform/storage/schema-notifications.ts';
import { READER } from '../store.ts';
import type { ReadProblem } from '../types.ts';

export { takeFrom } from '../../messages/buckets/store.ts';
export { lockPerson } from '../../contacts/store.ts';

/** One control plane reads at a time: the holder of the claim. An abandoned claim expires. */

/** The reader with the claim under which it reads. */
export interface ClaimedReader extends Selectable<TelegramReadersTable> {
  claim: string;
  /** When the last link that waits ends. */
  waitsUntil: number;
}

function isFree(eb: ExpressionBuilder<Schema, 'telegram_readers'>, now: number): Expression<SqlBool> {
  return eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]);
}

/** When the last link that waits ends; null when none waits. */
function lastEnd(now: number) {
  return sql<number | null>`(select max(expires_at) from telegram_links where proved_at is null and expires_at > ${now})`;
}

/** When the messages to the bot can be read next; null while no link waits. */
export async function selectNextRead(db: DbOrTx, now: number): Promise<number | null> {
  const row = await db
    .selectFrom('telegram_readers')
    .select(['due_at', 'claimed_until', lastEnd(now).as('waits_until')])
    .where('id', '=', READER)
    .executeTakeFirst();
  if (!row || row.waits_until === null) return null;
  return Math.max(row.due_at, row.claimed_until ?? 0);
}

/** Undefined when another process has it, or there is nothing to read for. */
export async function claimReader(db: DbOrTx, take: { claim: string; now: number; until: number }): Promise<ClaimedReader | undefined> {
  const { claim, now, until } = take;
  const row = await db
    .updateTable('telegram_readers')
    .set({ claim, claimed_until: until })
    .where('id', '=', READER)
    .where('due_at', '<=', now)
    .where((eb) => isFree(eb, now))
    .where(lastEnd(now), 'is not', null)
    .returningAll()
    .returning(lastEnd(now).as('waits_until'))
    .executeTakeFirst();
  if (!row) return undefined;
  const { waits_until: waitsUntil, ...reader } = row;
  return { ...reader, claim, waitsUntil: waitsUntil ?? now };
}

export interface ReadEnd {
  dueAt: number;
  failures: number;
  problem: ReadProblem | null;
}

/** Gives the claim back after a request. @param moved the next update, if some were taken @returns false for a claim that has expired */
export async function settleReader(
  db: DbOrTx,
  claim: string,
  { dueAt, failures, problem }: ReadEnd,
  now: number,
  moved?: { botId: string; next: number },
): Promise<boolean> {
  const row = await db
    .updateTable('telegram_readers')
    .set({
      claim: null,
      claimed_until: null,
      due_at: dueAt,
      failures,
      problem,
      read_at: now,
      ...(moved ? { bot_id: moved.botId, next_update: moved.next, moved_at: now } : {}),
    })
    .where('id', '=', READER)
    .where('claim', '=', claim)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Gives the claim back when nothing was read. */
export async function releaseReader(db: DbOrTx, claim: string): Promise<void> {
  await db
    .updateTable('telegram_readers')
    .set({ claim: null, claimed_until: null })
    .where('id', '=', READER)
    .where('claim', '=', claim)
    .execute();
}

/** A link that can be used still. */
export interface WaitingLink {
  id: string;
  teamId: string;
  userId: string;
}

/** By the keyed hash of its token, with the language of its person; undefined for an unknown one. */
export async function selectLinkByToken(
  db: DbOrTx,
  hashes: readonly string[],
): Promise<(WaitingLink & { locale: string | null }) | undefined> {
  return db
    .selectFrom('telegram_links')
    .innerJoin('users', 'users.id', 'telegram_links.user_id')
    .select(['telegram_links.id', 'telegram_links.team_id as teamId', 'telegram_links.user_id as userId', 'users.locale'])
    .where('telegram_links.token_hash', 'in', hashes)
    .executeTakeFirst();
}

/** Holds a link until the transaction ends. False when it can be used no more. */
export async function lockLink(db: DbOrTx, { id, teamId }: WaitingLink, now: number): Promise<boolean> {
  const row = await db
    .updateTable('telegram_links')
    .set((eb) => ({ expires_at: eb.ref('expires_at') }))
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('proved_at', 'is', null)
    .where('expires_at', '>', now)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** The link was opened. @param contactId what it has proved; undefined when the person has another chat by now: it only ends */
export async function useLink(db: DbOrTx, { id, teamId }: WaitingLink, contactId: string | undefined, now: number): Promise<void> {
  await db
    .updateTable('telegram_links')
    .set(contactId === undefined ? { expires_at: now } : { proved_at: now, contact_id: contactId })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .execute();
}
