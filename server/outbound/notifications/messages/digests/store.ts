import type { DbOrTx } from '../../../../platform/storage/db.ts';

export { lockTeam } from '../../../../platform/storage/team-lock.ts';
export { insertThreads } from '../../threads/routing/store.ts';
export { insertMessages } from '../writing/store.ts';

/** Messages that people read together. */

/** Teams in which a digest is due. */
export async function selectDigestTeams(db: DbOrTx, now: number): Promise<string[]> {
  const rows = await db.selectFrom('messages').select('team_id').distinct().where('digest_at', '<=', now).execute();
  return rows.map(({ team_id: id }) => id);
}

/** When the next digest of any team is due after a time; null for none. */
export async function selectNextDigest(db: DbOrTx, after: number): Promise<number | null> {
  const row = await db
    .selectFrom('messages')
    .select((eb) => eb.fn.min<number | null>('digest_at').as('at'))
    .where('digest_at', '>', after)
    .executeTakeFirst();
  return row?.at ?? null;
}

/**
 * People of a team whose digest is due. Whoever has messages whose quiet hours have just ended is left out: what is over by now belongs into
 * it. @param since when they ended at the earliest
 */
export async function selectDigestReaders(db: DbOrTx, teamId: string, { now, since }: { now: number; since: number }): Promise<string[]> {
  const rows = await db
    .selectFrom('messages')
    .select('recipient_id')
    .distinct()
    .where('team_id', '=', teamId)
    .where('digest_at', '<=', now)
    .where('recipient_id', 'not in', (eb) =>
      eb
        .selectFrom('messages as held')
        .select('held.recipient_id')
        .where('held.team_id', '=', teamId)
        .where('held.state', '=', 'held')
        .where('held.due_at', '<=', now)
        .where('held.due_at', '>', since),
    )
    .orderBy('recipient_id')
    .execute();
  return rows.map(({ recipient_id: id }) => id);
}

/** What waits for the digest of a person: in how many threads, since when, and the oldest group of theirs. Undefined for nothing. */
export async function selectWaiting(
  db: DbOrTx,
  teamId: string,
  userId: string,
  now: number,
): Promise<{ groupId: string; firstAt: number; threads: number } | undefined> {
  const {
    group_id: groupId,
    first_at: firstAt,
    threads,
  } = await db
    .selectFrom('messages')
    .innerJoin('threads', (join) => join.onRef('threads.id', '=', 'messages.thread_id').onRef('threads.team_id', '=', 'messages.team_id'))
    .select((eb) => [
      // A message names the group that told it, which may be gone: the thread of another one was escalated to it.
      eb.fn.min<string | null>('threads.group_id').as('group_id'),
      eb.fn.min<number | null>('messages.created_at').as('first_at'),
      eb.fn.count<number>('messages.thread_id').distinct().as('threads'),
    ])
    .where('messages.team_id', '=', teamId)
    .where('messages.recipient_id', '=', userId)
    .where('messages.digest_at', '<=', now)
    .executeTakeFirstOrThrow();
  return groupId === null || firstAt === null ? undefined : { groupId, firstAt, threads };
}

/** What waits for the digest of a person stands in this one. */
export async function markDigested(db: DbOrTx, teamId: string, userId: string, digestId: string, now: number): Promise<void> {
  await db
    .updateTable('messages')
    .set({ digest_at: null, digest_id: digestId })
    .where('team_id', '=', teamId)
    .where('recipient_id', '=', userId)
    .where('digest_at', '<=', now)
    .execute();
}
