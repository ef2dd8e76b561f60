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
export async function selectDigestReaders(
  db: DbOrTx,
  teamId: string,
  { now, since, limit }: { now: number; since: number; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('messages')
    .select('recipient_id')
    .distinct()
    .where('team_id', '=', teamId)
    .where('digest_at', '<=', now)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('messages as held')
            .select('held.id')
            .whereRef('held.team_id', '=', 'messages.team_id')
            .whereRef('held.recipient_id', '=', 'messages.recipient_id')
            .where('held.state', '=', 'held')
            .where('held.due_at', '<=', now)
            .where('held.due_at', '>', since),
        ),
      ),
    )
    .orderBy('recipient_id')
    .limit(limit)
    .execute();
  return rows.map(({ recipient_id: id }) => id);
}

/** What waits for the digest of a person, oldest first. */
export async function selectWaiting(db: DbOrTx, teamId: string, userId: string, now: number) {
  return db
    .selectFrom('messages')
    .select(['id', 'thread_id', 'group_id', 'created_at'])
    .where('team_id', '=', teamId)
    .where('recipient_id', '=', userId)
    .where('digest_at', '<=', now)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
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
