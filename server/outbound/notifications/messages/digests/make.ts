import { newId } from '../../../../platform/core/ids.ts';
import type { DbOrTx, Tx } from '../../../../platform/storage/db.ts';
import { newThread } from '../../threads/new-thread.ts';
import type { Revision, ThreadRow } from '../../threads/types.ts';
import { DIGEST } from '../types.ts';
import { rowOf } from '../writing/rows.ts';
import type { WritingDeps } from '../writing/rows.ts';
import { insertMessages, insertThreads, lockTeam, markDigested, selectDigestReaders, selectWaiting } from './store.ts';

/** What was held in quiet hours is looked at within seconds after their end; nothing keeps a digest waiting for longer. */
const HELD_WITHIN_MS = 5 * 60_000;

/** A person in a team. */
export interface Reader {
  teamId: string;
  userId: string;
}

/** People of a team whose digest is due. */
export function findReaders(db: DbOrTx, teamId: string, now: number): Promise<string[]> {
  return selectDigestReaders(db, teamId, { now, since: now - HELD_WITHIN_MS });
}

/**
 * Makes the digest of a person that is due: one message, by the channel that they have chosen for themselves. What stands in it is marked in
 * the same transaction: a crash repeats nothing and loses nothing. @returns false when nothing waits, as when another process has made it
 */
export async function makeDigest({ addresses, channels }: WritingDeps, tx: Tx, { teamId, userId }: Reader, now: number): Promise<boolean> {
  // The group to which the digest belongs stays until it is stored.
  await lockTeam(tx, teamId);
  const waiting = await selectWaiting(tx, teamId, userId, now);
  if (!waiting) return false;
  const { groupId } = waiting;
  const thread: ThreadRow = {
    ...newThread({ id: newId(now), teamId, groupId, key: `${DIGEST}:${userId}`, kind: DIGEST, now }),
    state: 'ended',
    first_at: waiting.firstAt,
    item_count: waiting.threads,
    revision: 1,
    told_at: now,
    closed_at: now,
  };
  const revision: Revision = { thread, kind: DIGEST, withheld: null };
  const group = { id: '', recipients: [userId], notifiables: [], targets: [] };
  const [planned = []] = await addresses.plan(tx, teamId, [{ group, topicIds: [], byAnyWay: true }]);
  await insertThreads(tx, [thread]);
  await insertMessages(
    tx,
    planned.map((one) => rowOf(one, { revision, groupId, teamId, channels, now })),
  );
  await markDigested(tx, teamId, userId, thread.id, now);
  return true;
}
