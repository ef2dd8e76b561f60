import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { newId } from '../../../../platform/core/ids.ts';
import { capabilities } from '../../../../platform/storage/capabilities.ts';
import type { DbOrTx, Storage, Tx } from '../../../../platform/storage/db.ts';
import type { Schema } from '../../../../platform/storage/schema.ts';
import { LOOK_MS } from '../buckets/tokens.ts';
import { FALLBACK, HELD_BACK, KEPT_ATTEMPTS, PROVIDER_WAIT } from '../types.ts';
import type { MessageRow } from '../types.ts';
import { selectGroupName } from '../view/store.ts';

export { selectMute } from '../../groups/store.ts';
export { insertMessages } from '../writing/store.ts';
export { selectDueTeams } from '../../../../platform/storage/due-teams.ts';

/** The queue of messages. Only the holder of a message's claim sends it; an abandoned claim expires. */

export interface DueMessage {
  id: string;
  team_id: string;
  channel: string;
  bucket: string;
  expires_at: number | null;
}

/** A message with the claim under which it is sent. */
export interface ClaimedMessage extends MessageRow {
  claim: string;
}

type Where = ExpressionBuilder<Schema, 'messages'>;

function isFree(eb: Where, now: number): Expression<SqlBool> {
  return eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]);
}

/** An earlier message to the same person is being sent: the order is kept. One that is held waits for nothing but the morning. */
function hasEarlier(eb: Where, now: number): Expression<SqlBool> {
  return eb.exists(
    eb
      .selectFrom('messages as earlier')
      .select('earlier.id')
      .whereRef('earlier.thread_id', '=', 'messages.thread_id')
      .whereRef('earlier.recipient_id', '=', 'messages.recipient_id')
      .whereRef('earlier.channel', '=', 'messages.channel')
      .whereRef('earlier.revision', '<', 'messages.revision')
      .where('earlier.kind', '<>', HELD_BACK)
      .where((e) =>
        e.or([e('earlier.state', '=', 'pending'), e.and([e('earlier.state', '=', 'held'), e('earlier.claimed_until', '>', now)])]),
      ),
  );
}

/** Messages of a team that may be sent now, the longest due first; none to busy servers: `serverOf`. */
export async function selectDueMessages(
  db: DbOrTx,
  { teamId, now, busyServers, limit }: { teamId: string; now: number; busyServers: readonly string[]; limit: number },
): Promise<DueMessage[]> {
  let messages = db
    .selectFrom('messages')
    .select(['id', 'team_id', 'channel', 'bucket', 'expires_at'])
    .where('team_id', '=', teamId)
    .where('due_at', '<=', now)
    .where((eb) => isFree(eb, now))
    .where((eb) => eb.not(hasEarlier(eb, now)));
  for (const server of busyServers)
    messages = messages
      .where('bucket', '<>', server)
      .where((eb) => eb(eb.fn('substr', ['bucket', eb.val(1), eb.val(server.length + 1)]), '<>', `${server}#`));
  return messages.orderBy('due_at').orderBy('id').limit(limit).execute();
}

/** Since when the message that is due the longest waits; null when none is due. */
export async function selectOldestDue(db: DbOrTx, now: number): Promise<number | null> {
  const row = await db
    .selectFrom('messages')
    .select((eb) => eb.fn.min<number | null>('due_at').as('at'))
    .where('due_at', '<=', now)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** When the next message falls due after `now`; null for none. */
export async function selectNextMessage(db: DbOrTx, now: number): Promise<number | null> {
  const row = await db
    .selectFrom('messages')
    .select((eb) => eb.fn.min<number | null>('due_at').as('at'))
    .where('due_at', '>', now)
    .executeTakeFirst();
  return row?.at ?? null;
}

/**
 * Those of these messages (of all teams) that are due and that nobody else holds, and holds them until this transaction ends. Who waited for
 * the others could wait for a transaction that waits for this one: whoever supersedes the messages of a thread locks them in another order.
 */
export async function holdFree(tx: Tx, engine: Storage['engine'], ids: readonly string[], now: number): Promise<ReadonlySet<string>> {
  const messages = tx
    .selectFrom('messages')
    .select('id')
    .where('id', 'in', ids)
    // Another process may have claimed or postponed it since it was found: it must take no token.
    .where('due_at', '<=', now)
    .where((eb) => isFree(eb, now))
    .orderBy('id');
  const rows = await (capabilities[engine].singleWriter ? messages : messages.forUpdate().skipLocked()).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Claims messages (by id, of all teams) for sending. Those that another process has claimed are left out. */
export async function claimMessages(
  db: DbOrTx,
  take: { ids: readonly string[]; claim: string; now: number; until: number },
): Promise<ClaimedMessage[]> {
  if (take.ids.length === 0) return [];
  const rows = await db
    .updateTable('messages')
    .set({ claim: take.claim, claimed_until: take.until })
    .where('id', 'in', take.ids)
    .where('due_at', '<=', take.now)
    .where((eb) => isFree(eb, take.now))
    .returningAll()
    .execute();
  return rows.map((row) => ({ ...row, claim: take.claim }));
}

export interface Postponement {
  /** The bucket gives nothing before then. */
  nextAt: number;
  isPaused: boolean;
}

/** The last look at a message is when it expires. */
export async function postpone(db: DbOrTx, ids: readonly string[], { nextAt, isPaused }: Postponement): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('messages')
    .set((eb) => ({
      due_at: eb.case().when('expires_at', '<', nextAt).then(eb.ref('expires_at')).else(nextAt).end(),
      ...(isPaused ? { reason: eb.fn.coalesce('reason', eb.val(PROVIDER_WAIT)) } : {}),
    }))
    .where('id', 'in', ids)
    .where('due_at', '<', nextAt)
    .execute();
}

/** In one step; the next pass finds the others. */
const POSTPONED_AT_ONCE = 500;

/** The same for what else is due of the bucket, and has not expired. */
export async function postponeWaiting(
  tx: DbOrTx,
  { teams, bucket, now }: { teams: ReadonlySet<string>; bucket: string; now: number },
  postponement: Postponement,
): Promise<void> {
  for (const teamId of teams) {
    const waiting = await tx
      .selectFrom('messages')
      .select('id')
      .where('team_id', '=', teamId)
      .where('due_at', '<=', now)
      .where('bucket', '=', bucket)
      .where((eb) => isFree(eb, now))
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
      .limit(POSTPONED_AT_ONCE)
      .execute();
    await postpone(
      tx,
      waiting.map(({ id }) => id),
      postponement,
    );
  }
}

/** Of those that wait for the one that tries a refused account. What cannot be sent now itself must not keep the others waiting. */
const HASTENED = 20;

/** The message that was to try a refused account was not sent: the next ones of the bucket, of all teams, are looked at at once. */
export async function hastenWaiting(db: DbOrTx, bucket: string, now: number): Promise<void> {
  await db
    .updateTable('messages')
    .set({ due_at: now })
    .where((eb) =>
      eb(
        'id',
        'in',
        eb
          .selectFrom('messages as waiting')
          .select('waiting.id')
          .where('waiting.due_at', '>', now)
          .where('waiting.due_at', '<=', now + LOOK_MS)
          .where('waiting.bucket', '=', bucket)
          .orderBy('waiting.due_at')
          .orderBy('waiting.id')
          .limit(HASTENED),
      ),
    )
    .execute();
}

export type Settlement =
  | { state: 'sent'; ref: string | null; attempts: number; now: number }
  | { state: 'failed' | 'withheld' | 'superseded'; reason: string | null; attempts: number; now: number; digestAt?: number | null }
  | { state: 'pending'; dueAt: number; attempts: number; reason: string | null }
  | { state: 'held'; reason: string; dueAt: number; expiresAt: number; attempts: number };

/** Stores the result of a claimed message. @returns false when the claim has expired and another process has it */
export async function settleMessage(db: DbOrTx, message: ClaimedMessage, settlement: Settlement): Promise<boolean> {
  const free = { claim: null, claimed_until: null, attempts: settlement.attempts };
  const values = { ...free, ...valuesOf(message, settlement) };
  const { numUpdatedRows } = await db
    .updateTable('messages')
    .set(values)
    .where('id', '=', message.id)
    .where('team_id', '=', message.team_id)
    .where('claim', '=', message.claim)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

function valuesOf(message: MessageRow, settlement: Settlement) {
  const reason = message.reason === FALLBACK ? FALLBACK : null;
  switch (settlement.state) {
    case 'pending':
      return { state: 'pending', reason: reason ?? settlement.reason, due_at: settlement.dueAt };
    case 'held':
      return { state: 'held', reason: settlement.reason, due_at: settlement.dueAt, expires_at: settlement.expiresAt };
    case 'sent':
      return { state: 'sent', reason, due_at: null, settled_at: settlement.now, provider_ref: settlement.ref };
    default:
      return {
        state: settlement.state,
        reason: settlement.reason,
        due_at: null,
        settled_at: settlement.now,
        digest_at: settlement.digestAt ?? null,
      };
  }
}

/** Releases the claim of a message that was not sent. */
export async function releaseMessage(db: DbOrTx, { id, team_id: teamId, claim }: ClaimedMessage): Promise<void> {
  await db
    .updateTable('messages')
    .set({ claim: null, claimed_until: null })
    .where('id', '=', id)
    .where('team_id', '=', teamId)
    .where('claim', '=', claim)
    .execute();
}

/** Whether a newer message of the thread is in one of these states for the same person and channel. By default: whether it waits. */
export async function hasNewer(db: DbOrTx, message: MessageRow, states: readonly string[] = ['pending', 'held']): Promise<boolean> {
  const row = await sameThread(db, message).where('revision', '>', message.revision).where('state', 'in', states).executeTakeFirst();
  return row !== undefined;
}

/** Earlier messages of the thread to the same person, oldest first. */
export async function selectEarlier(db: DbOrTx, message: MessageRow): Promise<MessageRow[]> {
  return sameThread(db, message).selectAll().where('revision', '<', message.revision).orderBy('revision').orderBy('id').execute();
}

function sameThread(db: DbOrTx, message: MessageRow) {
  return db
    .selectFrom('messages')
    .select('id')
    .where('team_id', '=', message.team_id)
    .where('thread_id', '=', message.thread_id)
    .where('recipient_id', '=', message.recipient_id)
    .where('channel', '=', message.channel)
    .where('kind', '<>', HELD_BACK);
}

/** Channels by which a person gets this revision already, each with why the message is as it is. */
export async function selectWays(db: DbOrTx, message: MessageRow): Promise<{ channel: string; reason: string | null }[]> {
  return db
    .selectFrom('messages')
    .select(['channel', 'reason'])
    .distinct()
    .where('team_id', '=', message.team_id)
    .where('thread_id', '=', message.thread_id)
    .where('recipient_id', '=', message.recipient_id)
    .where('revision', '=', message.revision)
    .execute();
}

/** Names of whom a message is for, and of the group that sends it; empty for what is gone. */
export async function selectAddressee(db: DbOrTx, message: MessageRow): Promise<{ to: string; group: string }> {
  const { team_id: teamId, group_id: groupId, recipient_id: id } = message;
  const to =
    message.recipient_type === 'target'
      ? await db.selectFrom('notification_targets').select('name').where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst()
      : await db
          .selectFrom('members')
          .innerJoin('users', 'users.id', 'members.user_id')
          .select('users.email as name')
          .where('members.team_id', '=', teamId)
          .where('members.user_id', '=', id)
          .executeTakeFirst();
  return { to: to?.name ?? '', group: (await selectGroupName(db, teamId, groupId)) ?? '' };
}

/** Messages that a person did not get by this channel because there were too many, since the last one that said how many. */
export async function countHeldBack(db: DbOrTx, message: MessageRow): Promise<number> {
  const ofPerson = () =>
    db
      .selectFrom('messages')
      .where('team_id', '=', message.team_id)
      .where('recipient_id', '=', message.recipient_id)
      .where('channel', '=', message.channel);
  const last = await ofPerson()
    .select((eb) => eb.fn.max<number | null>('settled_at').as('at'))
    .where('kind', '=', HELD_BACK)
    .where('state', '=', 'sent')
    .executeTakeFirst();
  const heldBack = await ofPerson()
    .select(['thread_id', 'revision'])
    .distinct()
    .where('state', '=', 'withheld')
    .where('reason', '=', 'budget')
    .where('created_at', '>', last?.at ?? 0)
    .execute();
  return heldBack.length;
}

export interface AttemptInsert {
  /** What the message said, and the zone of the times in it. */
  subject: string;
  subjectTimeZone: string | null;
  at: number;
  durationMs: number;
  outcome: string;
  error: string | null;
  detail: string | null;
}

/** Also keeps what the message said in it. Of the earlier attempts, the newest are kept. */
export async function insertMessageAttempt(db: DbOrTx, message: MessageRow, attempt: AttemptInsert): Promise<void> {
  await db
    .insertInto('message_attempts')
    .values({
      id: newId(attempt.at),
      team_id: message.team_id,
      message_id: message.id,
      at: attempt.at,
      duration_ms: attempt.durationMs,
      outcome: attempt.outcome,
      error: attempt.error,
      detail: attempt.detail,
    })
    .execute();
  await db
    .updateTable('messages')
    .set({ subject: attempt.subject, subject_time_zone: attempt.subjectTimeZone })
    .where('team_id', '=', message.team_id)
    .where('id', '=', message.id)
    .execute();
  // What was sent gets no further attempt.
  if (attempt.outcome !== 'sent') await deleteOldAttempts(db, message);
}

async function deleteOldAttempts(db: DbOrTx, { id, team_id: teamId }: MessageRow): Promise<void> {
  await db
    .deleteFrom('message_attempts')
    .where('team_id', '=', teamId)
    .where('message_id', '=', id)
    .where((eb) =>
      eb(
        'id',
        'not in',
        eb
          .selectFrom('message_attempts as kept')
          .select('kept.id')
          .where('kept.team_id', '=', teamId)
          .where('kept.message_id', '=', id)
          .orderBy('kept.at', 'desc')
          .orderBy('kept.id', 'desc')
          .limit(KEPT_ATTEMPTS),
      ),
    )
    .execute();
}
