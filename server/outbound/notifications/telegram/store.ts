import type { ExpressionBuilder, Selectable } from 'kysely';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { Schema } from '../../../platform/storage/schema.ts';
import type { TelegramLinksTable } from '../../../platform/storage/schema-notifications.ts';
import type { LinkState, ReadProblem, TelegramLink } from './types.ts';

export { lockPerson } from '../contacts/store.ts';

/** The one row of `telegram_readers`. */
export const READER = 'telegram';

/** A person in a team, whose link it is. */
interface Owner {
  teamId: string;
  userId: string;
}

/** It can be used still. */
function isWaiting(now: number) {
  return (eb: ExpressionBuilder<Schema, 'telegram_links'>) => eb.and([eb('proved_at', 'is', null), eb('expires_at', '>', now)]);
}

/** Ends the person's links that wait, in all teams: only the newest one counts. */
export async function endLinks(db: DbOrTx, userId: string, now: number): Promise<void> {
  await db.updateTable('telegram_links').set({ expires_at: now }).where('user_id', '=', userId).where(isWaiting(now)).execute();
}

export async function insertLink(
  db: DbOrTx,
  { teamId, userId, ...link }: Owner & { id: string; tokenHash: string; createdAt: number; expiresAt: number },
): Promise<void> {
  await db
    .insertInto('telegram_links')
    .values({
      id: link.id,
      team_id: teamId,
      user_id: userId,
      token_hash: link.tokenHash,
      created_at: link.createdAt,
      expires_at: link.expiresAt,
      proved_at: null,
      contact_id: null,
    })
    .execute();
}

/** Messages to the bot are read from now on, unless a pause has to be kept. */
export async function insertReader(db: DbOrTx, now: number): Promise<void> {
  const none = { bot_id: null, next_update: null, moved_at: null, claim: null, claimed_until: null, read_at: null, problem: null };
  await db
    .insertInto('telegram_readers')
    .values({ id: READER, due_at: now, failures: 0, ...none })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** When the person made the latest links after `since`, oldest first. At most `most` of them: it is only asked whether that many are there. */
export async function selectMade(db: DbOrTx, userId: string, since: number, most: number): Promise<number[]> {
  const rows = await db
    .selectFrom('telegram_links')
    .select('created_at')
    .where('user_id', '=', userId)
    .where('created_at', '>', since)
    .orderBy('created_at', 'desc')
    .limit(most)
    .execute();
  return rows.map((row) => row.created_at).toReversed();
}

export async function selectLink(db: DbOrTx, { teamId, userId }: Owner, id: string, now: number): Promise<TelegramLink | undefined> {
  const row = await db
    .selectFrom('telegram_links')
    .leftJoin('telegram_readers', (join) => join.on('telegram_readers.id', '=', READER))
    .selectAll('telegram_links')
    .select(['telegram_readers.problem', 'telegram_readers.read_at', 'telegram_readers.due_at'])
    .where('telegram_links.team_id', '=', teamId)
    .where('telegram_links.user_id', '=', userId)
    .where('telegram_links.id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  const state = stateOf(row, now);
  // An earlier link may have left a problem that is over by now, unless its pause has to be kept still.
  const isOfNow = state === 'waiting' && ((row.read_at ?? -Infinity) >= row.created_at || (row.due_at ?? -Infinity) > now);
  return {
    id: row.id,
    state,
    problem: isOfNow ? (row.problem as ReadProblem | null) : null,
    contactId: row.contact_id,
    expiresAt: row.expires_at,
  };
}

function stateOf({ proved_at: provedAt, expires_at: expiresAt }: Selectable<TelegramLinksTable>, now: number): LinkState {
  if (provedAt !== null) return 'proved';
  return expiresAt > now ? 'waiting' : 'ended';
}

/** False when the person has no such link. */
export async function endLink(db: DbOrTx, { teamId, userId }: Owner, id: string, now: number): Promise<boolean> {
  const row = await db
    .updateTable('telegram_links')
    .set((eb) => ({ expires_at: eb.case().when(isWaiting(now)(eb)).then(eb.val(now)).else(eb.ref('expires_at')).end() }))
    .where('team_id', '=', teamId)
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes at most `limit` links of all teams that were made before a time. @returns the number deleted */
export async function deleteLinksBefore(db: DbOrTx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('telegram_links')
    .where((eb) =>
      eb('id', 'in', eb.selectFrom('telegram_links as old').select('old.id').where('old.created_at', '<', before).limit(limit)),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
