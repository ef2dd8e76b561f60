import type { Insertable, Selectable } from 'kysely';
import { inChunks } from '../../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../../platform/storage/db.ts';
import { HELD_BACK, PROVIDER_WAIT } from '../types.ts';
import type { MessagesTable } from '../../../../platform/storage/schema-notices.ts';

export { selectLinks } from '../../groups/links/store.ts';

/** Earlier messages of a thread to these groups that nobody has begun to send: the newer one says all. */
export async function supersede(
  tx: DbOrTx,
  teamId: string,
  { id: threadId, revision }: { id: string; revision: number },
  groups: readonly string[],
  now: number,
): Promise<void> {
  await tx
    .updateTable('messages')
    .set((eb) => ({
      state: 'superseded',
      due_at: null,
      settled_at: now,
      // Why it waited is no reason any more.
      reason: eb.fn('nullif', ['reason', eb.val(PROVIDER_WAIT)]),
    }))
    .where('team_id', '=', teamId)
    .where('thread_id', '=', threadId)
    .where('group_id', 'in', groups)
    .where('state', 'in', ['pending', 'held'])
    .where('kind', '<>', HELD_BACK)
    .where('revision', '<', revision)
    .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
    .execute();
}

/** What messages of these threads tell that nobody got yet. */
export async function selectUnsentKinds(
  tx: DbOrTx,
  teamId: string,
  threadIds: readonly string[],
): Promise<{ thread_id: string; kinds: string }[]> {
  const rows: { thread_id: string; kinds: string }[] = [];
  for (const chunk of inChunks(threadIds))
    rows.push(
      ...(await tx
        .selectFrom('messages')
        .select(['thread_id', 'kinds'])
        .distinct()
        .where('team_id', '=', teamId)
        .where('thread_id', 'in', chunk)
        .where('due_at', 'is not', null)
        .where('kind', '<>', HELD_BACK)
        .execute()),
    );
  return rows;
}

/** A decision that is repeated replaces its earlier rows: one for each thread, person and channel. */
export async function deleteWithheld(
  tx: DbOrTx,
  teamId: string,
  threadId: string,
  groups: readonly string[],
  reason: string,
): Promise<void> {
  await tx
    .deleteFrom('messages')
    .where('team_id', '=', teamId)
    .where('thread_id', '=', threadId)
    .where('group_id', 'in', groups)
    .where('state', '=', 'withheld')
    .where('reason', '=', reason)
    .execute();
}

/** Who looks after a team. */
export async function selectAdmins(tx: DbOrTx, teamId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('members')
    .select('user_id')
    .where('team_id', '=', teamId)
    .where('role', '=', 'admin')
    .where('active', '=', 1)
    .orderBy('user_id')
    .execute();
  return rows.map(({ user_id: id }) => id);
}

export interface Recent {
  recipient_id: string;
  channel: string;
  count: number;
}

/**
 * Messages of people by these channels since a time, without those that were not sent. A revision counts once, however many browsers a person
 * has.
 */
export async function countRecent(
  tx: DbOrTx,
  teamId: string,
  userIds: readonly string[],
  channels: readonly string[],
  since: number,
): Promise<Recent[]> {
  const counts: Recent[] = [];
  for (const chunk of inChunks(userIds))
    counts.push(
      ...(await tx
        .selectFrom((eb) =>
          eb
            .selectFrom('messages')
            .select(['recipient_id', 'channel', 'thread_id', 'revision'])
            .distinct()
            .where('team_id', '=', teamId)
            .where('recipient_id', 'in', chunk)
            .where('created_at', '>', since)
            .where('channel', 'in', channels)
            .where('state', 'in', ['pending', 'held', 'sent'])
            .where('kind', 'not in', ['test', 'digest', HELD_BACK])
            .as('told'),
        )
        .select(['recipient_id', 'channel'])
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .groupBy(['recipient_id', 'channel'])
        .execute()),
    );
  return counts;
}

export interface Note {
  recipient_id: string;
  channel: string;
  state: string;
  at: number;
}

/** The messages that said, or will say, how many more there are; one that waits for the morning also when it is older. */
export async function selectNotes(tx: DbOrTx, teamId: string, userIds: readonly string[], since: number): Promise<Note[]> {
  const notes: Note[] = [];
  for (const chunk of inChunks(userIds))
    notes.push(
      ...(await tx
        .selectFrom('messages')
        .select(['recipient_id', 'channel', 'state', 'created_at as at'])
        .where('team_id', '=', teamId)
        .where('recipient_id', 'in', chunk)
        .where('kind', '=', HELD_BACK)
        .where((eb) => eb.or([eb('created_at', '>', since), eb('state', 'in', ['pending', 'held'])]))
        .orderBy('created_at')
        .execute()),
    );
  return notes;
}

/** Where a message went. */
export type Told = Pick<
  Selectable<MessagesTable>,
  'group_id' | 'recipient_type' | 'recipient_id' | 'channel' | 'address' | 'address_id' | 'bucket'
>;

/** Where messages of a thread were sent to by these channels, oldest first. A place comes as often as it was told, also by several groups. */
export async function selectTold(tx: DbOrTx, teamId: string, threadId: string, channels: readonly string[]): Promise<Told[]> {
  return tx
    .selectFrom('messages')
    .select(['group_id', 'recipient_type', 'recipient_id', 'channel', 'address', 'address_id', 'bucket'])
    .where('team_id', '=', teamId)
    .where('thread_id', '=', threadId)
    .where('state', '=', 'sent')
    .where('channel', 'in', channels)
    .orderBy('id')
    .execute();
}

/** Whoever was told of a thread by a group, and has not been told of its end. */
export type StillToEnd = Pick<Told, 'group_id' | 'recipient_type' | 'recipient_id' | 'channel'> & { thread_id: string };

/**
 * Of these threads, those whose group was changed or deleted since it told them: the group may not name them any more. Each as often as by groups
 * and channels.
 */
export async function selectStillToEnd(tx: DbOrTx, teamId: string, threadIds: readonly string[]): Promise<StillToEnd[]> {
  const told = new Map<string, StillToEnd & { kind: string }>();
  for (const chunk of inChunks(threadIds)) {
    const rows = await tx
      .selectFrom('messages')
      .innerJoin('notification_groups', 'notification_groups.id', 'messages.group_id')
      .select(['thread_id', 'group_id', 'recipient_type', 'recipient_id', 'channel', 'kind'])
      .where('messages.team_id', '=', teamId)
      .where('thread_id', 'in', chunk)
      .where('state', '=', 'sent')
      .where('kind', '<>', HELD_BACK)
      .whereRef('notification_groups.updated_at', '>=', 'messages.created_at')
      .orderBy('revision')
      .orderBy('messages.id')
      .execute();
    for (const row of rows) told.set([row.thread_id, row.group_id, row.recipient_id, row.channel].join(' '), row);
  }
  return [...told.values()].filter(({ kind }) => kind !== 'resolve');
}

/** Reminders and escalations that nobody has begun to send: somebody has taken the thread over. */
export async function withdrawCalls(tx: DbOrTx, teamId: string, threadId: string, now: number): Promise<void> {
  await tx
    .updateTable('messages')
    .set({ state: 'withheld', reason: 'acknowledged', due_at: null, settled_at: now })
    .where('team_id', '=', teamId)
    .where('thread_id', '=', threadId)
    .where('due_at', 'is not', null)
    .where('kind', 'in', ['reminder', 'escalation'])
    .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
    .execute();
}

export async function insertMessages(tx: DbOrTx, messages: readonly Insertable<MessagesTable>[]): Promise<void> {
  for (const chunk of inChunks(messages)) await tx.insertInto('messages').values(chunk).execute();
}
